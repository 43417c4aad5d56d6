import { defaultSerializeQueryArgs } from '@reduxjs/toolkit/query'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { PAGE_ROUTES } from '../../../contract/pageRoutes'
import { changeTexts, hiderOf } from './hide'
import { maskText } from '../redact/mask'
import type { Recording } from '../record/recorder'
import type { State } from '../replay/steps'

/**
 * Where a value holds what a user typed: a `text`, the `address` of a page, an object whose keys are typed (`byName`),
 * or an object, or a list of objects, with such fields. Whatever is not listed was chosen, or made by the console.
 */
type Typed = 'text' | 'address' | 'byName' | { [field: string]: Typed }

/** By type of action; of the payload. */
export const typedPayloads: Record<string, Typed> = {
  'route/changed': 'address',
  'session/signInRequired': 'address',
  'admin/dialogOpened': { message: 'text' },
  'admin/inviteMessageTyped': 'text',
  'admin/usersSearched': 'text',
  'admin/activityFiltered': { search: 'text' },
  'files/directoryOpened': 'text',
  'files/filterTyped': 'text',
  'files/creationEdited': { name: 'text' },
  'files/destinationTyped': 'text',
  'files/newNameTyped': 'text',
  'databases/nameTyped': 'text',
  'databases/filtered': 'text',
  'deployments/creationEdited': { name: 'text' },
  'configuration/draftTyped': { name: 'text' },
  'configuration/draftRestored': { name: 'text' },
  'configuration/draftSaved': { name: 'text' },
  'configuration/draftDropped': 'text',
  'drafts/offersChanged': { name: 'text' },
  'instance/searched': 'text',
}

/** By slice: where the reducers put these texts. */
const typedState: Record<string, Typed> = {
  route: 'address',
  session: { origin: 'address' },
  admin: { userSearch: 'text', activity: { search: 'text' }, dialog: { message: 'text' } },
  files: { directory: 'text', filter: 'text', dialog: { name: 'text', destination: 'text' } },
  databases: { filter: 'text', dialog: { name: 'text' } },
  deployments: { dialog: { name: 'text' } },
  configuration: { drafts: 'byName' },
  drafts: { offers: { name: 'text' } },
  selection: { directory: 'text' },
  instance: { query: 'text' },
}

/** Fields that hold one of a few words of the console. */
const CHOSEN = new Set(['type', 'kind', 'metric', 'tab', 'by', 'status', 'code', 'endpointName'])
/** Fields in which the console and the server quote the arguments of a call. */
const QUOTING = new Set(['message', 'what', 'reason', 'path'])
/** Words of the console in addresses, paths and arguments. */
const OWN = new Set([
  ...PAGE_ROUTES.flatMap((route) => route.split('/')),
  ...SHARED_ROOT.split('/'),
  ...['sql', 'mongo', 'tab', 'users', 'invites', 'dashboard', 'console', 'metrics', 'details'],
])

type Loose = Record<string, unknown>
type Change = (text: string, field: string) => string
type Call = { endpointName: string; originalArgs?: unknown; queryCacheKey?: string; fixedCacheKey?: string }

const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null
const isAnswer = ({ type }: { type: string }) => /^api\/execute(?:Query|Mutation)\/fulfilled$/.test(type)
const typedOf = (table: Record<string, Typed>, name: string) => (Object.hasOwn(table, name) ? table[name] : undefined)

/**
 * Masks every text that a user typed and that no answer of the server in the recording holds. What stays is the name of
 * something that was found or created, or a part of one: it tells nothing that the answers do not. What goes may be a
 * secret in the wrong field. The console need not know it as a secret: it may have been typed before a reload, or in
 * another tab.
 */
export function maskTypedTexts({ startedAt, base, actions }: Recording): Recording {
  const answers = answersOf(base, actions)
  const abandoned = abandonedOf(actions, answers)
  const isKnown = (text: string) => OWN.has(text) || (answers.hold(text) && !abandoned.has(text))
  const maskPart = (text: string) => (isKnown(text) ? text : maskText(text))
  const mask = (text: string) =>
    isKnown(text) ? text : text.startsWith('/') ? text.split('/').map(maskPart).join('/') : maskText(text)
  const maskAddress = (address: string) =>
    address.replace(/[^/?&=#]+/g, (part) => (isKnown(decoded(part)) ? part : maskText(part)))
  const maskTyped = (value: unknown, typed: Typed | undefined) =>
    typed === undefined ? value : mapTyped(value, typed, (text, kind) => (kind === 'text' ? mask : maskAddress)(text))

  /** Masked arguments and the keys that are made of them, and what they became. */
  const renamed = new Map<string, string>()
  const quoted = new Set<string>()
  const maskArgument = (text: string, field: string) => {
    if (CHOSEN.has(field)) return text
    const masked = mask(text)
    if (masked === text) return text
    renamed.set(text, masked)
    for (const part of text.startsWith('/') ? text.split('/') : [text]) if (!isKnown(part)) quoted.add(part)
    return masked
  }
  const maskCall = <Masked extends Call>(call: Masked): Masked => {
    const { endpointName, originalArgs, queryCacheKey, fixedCacheKey } = call
    const args = changeTexts(originalArgs, maskArgument)
    if (queryCacheKey !== undefined && JSON.stringify(args) !== JSON.stringify(originalArgs))
      renamed.set(queryCacheKey, keyOf(endpointName, args))
    if (fixedCacheKey !== undefined)
      renamed.set(
        fixedCacheKey,
        fixedCacheKey.replace(/(?<= ).+/s, (name) => maskArgument(name, 'name')),
      )
    return {
      ...call,
      ...(originalArgs !== undefined && { originalArgs: args }),
      ...(queryCacheKey !== undefined && { queryCacheKey: renamed.get(queryCacheKey) ?? queryCacheKey }),
      ...(fixedCacheKey !== undefined && { fixedCacheKey: renamed.get(fixedCacheKey) }),
    }
  }

  const { queries, ...cache } = (base.api ?? {}) as { queries?: Record<string, Call & { data?: unknown }> }
  const maskedQueries = Object.entries(queries ?? {}).map(([key, query]) => {
    const { queryCacheKey, ...masked } = maskCall({ ...query, queryCacheKey: key })
    return [queryCacheKey, masked] as const
  })
  const maskedActions = actions.map((action) => {
    const { type, payload, meta } = action
    if (isObject(meta) && isObject(meta.arg)) return { ...action, meta: { ...meta, arg: maskCall(meta.arg as Call) } }
    return { ...action, ...(payload !== undefined && { payload: maskTyped(payload, typedOf(typedPayloads, type)) }) }
  })

  // Now every masked argument is known, so whatever else names one follows: the cache, failures, notifications.
  const hideQuoted = hiderOf([...quoted])
  const rename: Change = (text, field) =>
    CHOSEN.has(field) ? text : QUOTING.has(field) ? hideQuoted(text) : (renamed.get(text) ?? text)
  const renameIn = (value: unknown) => changeTexts(value, rename)
  return {
    startedAt,
    base: {
      ...Object.fromEntries(
        Object.entries(base).map(([name, part]) => [name, renameIn(maskTyped(part, typedOf(typedState, name)))]),
      ),
      ...(queries && {
        api: {
          ...(renameIn(cache) as object),
          queries: Object.fromEntries(
            maskedQueries.map(([key, { data, ...query }]) => [
              key,
              { ...(renameIn(query) as object), ...(data !== undefined && { data }) },
            ]),
          ),
        },
      }),
    },
    actions: maskedActions.map((action) => ({
      ...action,
      ...(action.payload !== undefined && !isAnswer(action) && { payload: renameIn(action.payload) }),
      ...(action.error !== undefined && { error: renameIn(action.error) }),
    })),
  }
}

/** The texts of what the server answered, without console output. A text that one of them contains is held. */
function answersOf(base: State, actions: Recording['actions']) {
  const texts = new Set<string>()
  const add = (answer: unknown) => {
    changeTexts(answer, (text) => {
      texts.add(text.toLowerCase())
      return text
    })
  }
  const { queries = {} } = (base.api ?? {}) as { queries?: Record<string, { endpointName?: string; data?: unknown }> }
  for (const { endpointName, data } of Object.values(queries)) if (endpointName !== 'getCrashCapsule') add(data)
  add((base.session as { current?: unknown } | undefined)?.current)
  for (const action of actions) {
    const { arg } = (action.meta ?? {}) as { arg?: Call }
    if (isAnswer(action) && arg?.endpointName !== 'getCrashCapsule') add(action.payload)
    if (action.type === 'session/started' || action.type === 'realtime/messageReceived') add(action.payload)
  }
  const all = [...texts].join('\n')
  return {
    hold: (text: string) => all.includes(text.toLowerCase()),
    /** Whether the text is one of them, not only a part. */
    holdWhole: (text: string) => texts.has(text.toLowerCase()),
  }
}

/**
 * Texts that were typed key by key and became something that no answer holds. All of their states are masked: the first
 * letters of a secret may be the first letters of a name.
 */
function abandonedOf(actions: Recording['actions'], answers: ReturnType<typeof answersOf>): Set<string> {
  const abandoned = new Set<string>()
  const texts = new Map<string, string[]>()
  for (const { type, payload } of actions) {
    const typed = typedOf(typedPayloads, type)
    if (!typed || payload === undefined) continue
    mapTyped(payload, typed, (text, kind) => {
      if (kind === 'text') texts.set(type, [...(texts.get(type) ?? []), text])
      return text
    })
  }
  for (const states of texts.values()) {
    const isMasked = states.map((text) => text !== '' && !answers.hold(text))
    const spread = (from: number, to: number) => {
      const [one, other] = [states[from], states[to]]
      if (isMasked[from] && one !== undefined && other && one.startsWith(other) && !answers.holdWhole(other))
        isMasked[to] = true
    }
    for (let at = states.length - 1; at > 0; at--) spread(at, at - 1)
    for (let at = 1; at < states.length; at++) spread(at - 1, at)
    states.forEach((text, at) => isMasked[at] && abandoned.add(text))
  }
  return abandoned
}

/** Changes the typed texts of a value and leaves everything else of it. */
function mapTyped(value: unknown, typed: Typed, change: (text: string, kind: 'text' | 'address') => string): unknown {
  if (Array.isArray(value)) return value.map((inner) => mapTyped(inner, typed, change))
  if (typed === 'text' || typed === 'address') return typeof value === 'string' ? change(value, typed) : value
  if (!isObject(value)) return value
  if (typed === 'byName')
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [change(name, 'text'), inner]))
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      const kind = typedOf(typed, field)
      return [field, kind ? mapTyped(inner, kind, change) : inner]
    }),
  )
}

const keyOf = (endpointName: string, queryArgs: unknown) =>
  defaultSerializeQueryArgs({ endpointName, queryArgs, endpointDefinition: {} as never })

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
