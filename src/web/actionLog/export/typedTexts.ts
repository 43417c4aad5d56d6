import { defaultSerializeQueryArgs } from '@reduxjs/toolkit/query'
import { HIDDEN } from '../../../contract/secrets/maskCommand'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { PAGE_ROUTES } from '../../../contract/pageRoutes'
import { changeTexts, hiderOf } from './hide'
import { maskText } from '../redact/mask'
import type { PlainAction } from '../redact/redactAction'
import type { Recording } from '../record/recorder'
import type { State } from '../replay/steps'

/**
 * Where a value holds what a user typed: a `text`, the `address` of a page, a `definition`, an object by names (`byName`),
 * or an object, or a list of objects, with such fields. Whatever is not listed was chosen, or made by the console.
 */
type Typed = 'text' | 'address' | 'definition' | 'byName' | { [field: string]: Typed }

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
  'configuration/draftTyped': { name: 'text', text: 'definition' },
  'configuration/draftRestored': { name: 'text', text: 'definition' },
  'configuration/draftSaved': { name: 'text', text: 'definition' },
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
const CHOSEN = new Set(['type', 'kind', 'metric', 'tab', 'by', 'status', 'code', 'endpointName', 'encoding', 'as'])
/** Fields in which the console and the server quote the arguments of a call. */
const QUOTING = new Set(['message', 'what', 'reason', 'path'])
/** Fields that hold an argument by itself. In other fields an equal text may be a word of the console, such as `dark`. */
const NAMING = new Set(['name', 'id', 'key'])
/** A part of a path that is shorter than this is kept only if it is a whole name. */
const SHORTEST_PART = 4
/** Top-level settings of a definition whose values the recorder keeps (mask.ts). */
const SETTING = /^(name|dataDirectory|node|description): (?=\S)(.*)$/
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
export function maskTypedTexts({ startedAt, base, actions }: Recording, evicted: Iterable<string> = []): Recording {
  const answers = answersOf(base, actions)
  const abandoned = abandonedOf(base, actions, answers)
  const isKnown = (text: string) => OWN.has(text) || (answers.hold(text) && !abandoned.has(text))
  const maskOf = createMasks()
  const maskPart = (part: string) =>
    OWN.has(part) || (isKnown(part) && (part.length >= SHORTEST_PART || answers.holdWhole(part))) ? part : maskOf(part)
  const mask = (text: string) =>
    isKnown(text) ? text : text.startsWith('/') ? text.split('/').map(maskPart).join('/') : maskOf(text)
  const maskAddress = (address: string) =>
    address.replace(/[^/?&=#]+/g, (part) => (maskPart(decoded(part)) === decoded(part) ? part : maskOf(decoded(part))))
  const maskDefinition = (text: string) =>
    text
      .split('\n')
      .map((line) =>
        line.replace(SETTING, (_line, name: string, value: string) => `${name}: ${isKnown(value) ? value : HIDDEN}`),
      )
      .join('\n')
  const masks = { text: mask, address: maskAddress, definition: maskDefinition }
  const maskTyped = (value: unknown, typed: Typed | undefined) =>
    typed === undefined ? value : mapTyped(value, typed, (text, kind) => masks[kind](text))

  /** Masked arguments and the keys that are made of them, and what they became. */
  const renamed = new Map<string, string>()
  const quoted = new Set<string>()
  const maskArgument = (text: string, field: string, isQuoted = true) => {
    if (CHOSEN.has(field)) return text
    if (field === 'content') return maskDefinition(text)
    const masked = mask(text)
    if (masked === text) return text
    renamed.set(text, masked)
    if (!isQuoted) return masked
    for (const part of text.startsWith('/') ? text.split('/') : [text]) if (!isKnown(part)) quoted.add(part)
    return masked
  }
  for (const text of evicted) maskArgument(text, '')
  const maskCall = <Masked extends Call>(call: Masked): Masked => {
    const { endpointName, originalArgs, queryCacheKey, fixedCacheKey } = call
    // No message quotes a search, and its first letters are in many of them.
    const isQuoted = endpointName !== 'getActivity'
    const args = changeTexts(originalArgs, (text, field) => maskArgument(text, field, isQuoted))
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
    if (isObject(meta) && isObject(meta.arg)) {
      const call = meta.arg as Call
      return {
        ...action,
        meta: { ...meta, arg: maskCall(call) },
        ...(call.endpointName === 'getActivity' && { payload: maskRefused(payload, mask) }),
      }
    }
    return { ...action, ...(payload !== undefined && { payload: maskTyped(payload, typedOf(typedPayloads, type)) }) }
  })

  // Now every masked argument is known, so whatever else names one follows: the cache, failures, notifications.
  const hideQuoted = hiderOf([...quoted])
  const rename: Change = (text, field) => {
    if (CHOSEN.has(field)) return text
    const isName = NAMING.has(field) || /[/( ]/.test(text)
    const name = isName ? renamed.get(text) : undefined
    return name ?? (QUOTING.has(field) || text.includes('(') ? hideQuoted(text) : text)
  }
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
              {
                ...(renameIn(query) as object),
                ...(data !== undefined && {
                  data: query.endpointName === 'getActivity' ? maskRefused(data, mask) : data,
                }),
              },
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
  const add = (answer: unknown, endpoint?: string) => {
    // Console output is no answer, and what a refused call was given is none either.
    if (endpoint === 'getCrashCapsule') return
    const { failed, ...made } = isObject(answer) && endpoint === 'createDirectories' ? answer : { failed: undefined }
    changeTexts(endpoint === 'getActivity' ? maskRefused(answer, () => '') : failed ? made : answer, (text) => {
      texts.add(text.toLowerCase())
      return text
    })
  }
  const { queries = {} } = (base.api ?? {}) as { queries?: Record<string, { endpointName?: string; data?: unknown }> }
  for (const { endpointName, data } of Object.values(queries)) add(data, endpointName)
  add((base.session as { current?: unknown } | undefined)?.current)
  for (const action of actions) {
    const { arg } = (action.meta ?? {}) as { arg?: Call }
    if (isAnswer(action)) add(action.payload, arg?.endpointName)
    if (action.type === 'session/started' || action.type === 'realtime/messageReceived') add(action.payload)
  }
  const all = [...texts].join('\n')
  const held = new Map<string, boolean>()
  return {
    /** Texts come key by key: if no answer holds the start of one, none holds the text. */
    hold(text: string): boolean {
      const isHeld = held.get(text) ?? (held.get(text.slice(0, -1)) !== false && all.includes(text.toLowerCase()))
      held.set(text, isHeld)
      return isHeld
    },
    /** Whether the text is one of them, not only a part. */
    holdWhole: (text: string) => texts.has(text.toLowerCase()),
  }
}

/**
 * Texts that were typed key by key and became something that no answer holds. All of their states are masked: the first
 * letters of a secret may be the first letters of a name.
 */
function abandonedOf(base: State, actions: Recording['actions'], answers: ReturnType<typeof answersOf>): Set<string> {
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
      if (isMasked[from] && one !== undefined && other && one.includes(other) && !answers.holdWhole(other))
        isMasked[to] = true
    }
    for (let at = states.length - 1; at > 0; at--) spread(at, at - 1)
    for (let at = 1; at < states.length; at++) spread(at - 1, at)
    states.forEach((text, at) => isMasked[at] && abandoned.add(text))
  }
  // The base state holds the state before the first of them.
  for (const [name, part] of Object.entries(base)) {
    const typed = typedOf(typedState, name)
    if (typed)
      mapTyped(part, typed, (text) => {
        if (text !== '' && !answers.holdWhole(text) && [...abandoned].some((state) => state.startsWith(text)))
          abandoned.add(text)
        return text
      })
  }
  return abandoned
}

/** Returns a function that gives each text a mask of its own, so that different arguments stay different keys. */
function createMasks(): (text: string) => string {
  const masks = new Map<string, string>()
  const taken = new Map<string, number>()
  return (text) => {
    const known = masks.get(text)
    if (known !== undefined) return known
    const mask = maskText(text)
    const count = taken.get(mask) ?? 0
    taken.set(mask, count + 1)
    const own = count === 0 || mask === '' ? mask : `${mask}${count + 1}`
    masks.set(text, own)
    return own
  }
}

/** Masks the subjects of refused actions in the activity log: the server repeats what it was given. */
function maskRefused(value: unknown, mask: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((inner) => maskRefused(inner, mask))
  if (!isObject(value)) return value
  const { succeeded, subject } = value
  if (succeeded === false && typeof subject === 'string') return { ...value, subject: mask(subject) }
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, maskRefused(inner, mask)]))
}

/** Returns the typed texts and the arguments of an action, by which the state may name it after it was evicted. */
export function typedTextsOf({ type, payload, meta }: PlainAction): string[] {
  const texts: string[] = []
  const add = (text: string) => {
    texts.push(text)
    return text
  }
  const { arg } = (meta ?? {}) as { arg?: Call }
  changeTexts(arg?.originalArgs, (text, field) => (CHOSEN.has(field) || field === 'content' ? text : add(text)))
  const typed = typedOf(typedPayloads, type)
  if (typed) mapTyped(payload, typed, (text, kind) => (kind === 'text' ? add(text) : text))
  return texts
}

type Kind = 'text' | 'address' | 'definition'

/** Changes the typed texts of a value and leaves everything else of it. */
function mapTyped(value: unknown, typed: Typed, change: (text: string, kind: Kind) => string): unknown {
  if (Array.isArray(value)) return value.map((inner) => mapTyped(inner, typed, change))
  if (typed === 'byName')
    return isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [
            change(name, 'text'),
            mapTyped(inner, { text: 'definition' }, change),
          ]),
        )
      : value
  if (typeof typed === 'string') return typeof value === 'string' ? change(value, typed) : value
  if (!isObject(value)) return value
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
