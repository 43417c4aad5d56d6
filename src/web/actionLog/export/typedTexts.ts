import { defaultSerializeQueryArgs } from '@reduxjs/toolkit/query'
import { HIDDEN } from '../../../contract/secrets/maskCommand'
import { DEPLOYMENT_TYPES, SHARED_ROOT } from '../../../contract/pageRules'
import { OPEN_ID_FAILURES, PAGE_PARAMETERS, PAGE_ROUTES } from '../../../contract/pageRoutes'
import { abandonedOf, beginningOf } from './abandoned'
import { maskCommandWords } from './commandWords'
import { responsesOf, isResponse, maskEchoed, maskFailure, SEARCH, type Responses, type WithoutSecrets } from './echoed'
import { changeTexts, hiderOf } from './hide'
import { maskText } from '../redact/mask'
import type { Recording } from '../replay/steps'
import type { Call, Kind, Typed } from './typedPlaces'
import {
  CHOSEN,
  decoded,
  endpointOf,
  isObject,
  mapSettings,
  mapSubject,
  mapTyped,
  quotedOf,
  typedOf,
  typedPayloads,
  typedState,
} from './typedPlaces'

/** Fields in which the console and the server quote the arguments of a call. */
const QUOTING = new Set(['message', 'code', 'field', 'what', 'reason', 'problem', 'syncProblem', 'path'])
/**
 * Fields whose whole value may be an argument. In other fields an equal text may be the console's own, such as `dark`.
 */
const NAMING = new Set(['name', 'id', 'key'])
/** Minimum length of a path segment that is kept although it is only a part of a known name. */
const SHORTEST_PART = 4
const TYPES = new Set<string>(DEPLOYMENT_TYPES)
/** Texts of the console that quote a path or arguments: the keys of the cache and of calls. */
const KEY_OF_CALL = /\(| \//
/** Keys that end with an argument: of the cache of calls (`download /nfsshare/x`) and of databases (`sql/shop`). */
const KEY_WITH_ARGUMENT = /^((?:download|restart|toggle) |(?:mongo|sql)\/)(.+)$/s
/** A key of the cache with arguments. */
const CACHE_KEY = /^\w+\((?!undefined\))/
const MASKED = '\u2022'
const ROOT = new Set(SHARED_ROOT.split('/'))
/** The console's own words in addresses, paths and arguments. */
const OWN = new Set([
  ...PAGE_ROUTES.flatMap((route) => route.split('/')),
  ...ROOT,
  ...PAGE_PARAMETERS,
  ...OPEN_ID_FAILURES,
  ...['sql', 'mongo', 'users', 'invites', 'dashboard', 'console', 'metrics', 'details', 'alone', 'step'],
])

type KnownSecrets = {
  /** All known secrets. */
  secrets: readonly string[]
  hideSecrets: (text: string) => string
  /** Hides secrets as the export does. Hidden parts of a response do not count as its content. */
  withoutSecrets: WithoutSecrets
}

/** Typed texts of evicted actions, and which of them are arguments of calls, or of searches. */
export type Evicted = Record<'texts' | 'args' | 'searches', ReadonlySet<string>>

/**
 * Masks every typed text that no response of the server in the recording contains. The remaining texts are names, or
 * parts of names, that the responses reveal anyway. A masked text may be a secret that was typed into the wrong field.
 * The console need not know the secret: it may have been typed before a reload, or in another tab.
 *
 * @param evicted typed texts of actions that were evicted from the recording. The base state may contain them. If
 * `unknown`, all messages of the base state are masked, and all paths and keys that no response contains.
 */
export function maskTypedTexts(
  { startedAt, base, actions }: Recording,
  evicted: Evicted | 'unknown',
  known: KnownSecrets,
): Recording {
  const { hideSecrets, withoutSecrets } = known
  const responses = responsesOf(base, actions, withoutSecrets)
  const texts = createTextMasks({ base, actions }, responses, evicted === 'unknown' ? [] : evicted.texts, known)
  const calls = createCallMasks(texts, hideSecrets)
  // Only arguments: a prefix of a secret would be masked in the console's own words, too, and be revealed by that.
  if (evicted !== 'unknown') {
    for (const text of evicted.args) calls.maskArgument(text, '')
    for (const text of evicted.searches) calls.maskSearch(text)
  }

  const { queries, mutations, ...cache } = (base.api ?? {}) as {
    queries?: Record<string, Call & { data?: unknown }>
    mutations?: object
  }
  const maskedQueries = Object.entries(queries ?? {}).map(([key, query]) => {
    const { queryCacheKey, ...masked } = calls.mask({ ...query, queryCacheKey: key })
    return [queryCacheKey, masked] as const
  })
  const maskedActions = actions.map((action) => {
    const { type, payload, meta } = action
    if (!isObject(meta) || !isObject(meta.arg))
      return {
        ...action,
        ...(payload !== undefined && {
          payload:
            type === 'api/queries/queryResultPatched'
              ? maskEchoed({ endpointName: endpointOf((payload as Call).queryCacheKey ?? '') }, payload, texts.mask)
              : texts.maskIn(payload, typedOf(typedPayloads, type)),
        }),
      }
    const call = calls.mask(meta.arg as Call)
    return {
      ...action,
      meta: { ...meta, arg: call },
      ...(payload !== undefined && { payload: maskEchoed(call, payload, texts.mask, texts.maskCommand) }),
    }
  })

  // All masked arguments are known at this point, so that they can be masked in other places: in the cache, failures
  // and notifications.
  const rename = calls.createRename()
  const keys = new Set(maskedQueries.map(([key]) => key))
  const maskNaming = (text: string, field: string) =>
    QUOTING.has(field) ? HIDDEN : keys.has(text) ? text : calls.maskUnknown(text)
  const renameBase = (value: unknown, endpointName?: string) =>
    evicted === 'unknown' ? changeTexts(rename(value), maskNaming) : rename(value, endpointName)
  return {
    startedAt,
    base: {
      ...Object.fromEntries(
        Object.entries(base).map(([name, part]) => [name, renameBase(texts.maskIn(part, typedOf(typedState, name)))]),
      ),
      ...(queries && {
        api: {
          ...(renameBase(cache) as object),
          // The state of a mutation does not contain its arguments.
          ...(mutations && {
            mutations: maskFailure(renameBase(mutations), { originalArgs: HIDDEN }),
          }),
          queries: Object.fromEntries(
            maskedQueries.map(([key, { data, ...query }]) => [
              key,
              {
                ...(maskFailure(renameBase(query, query.endpointName), query) as object),
                ...(data !== undefined && {
                  data: maskEchoed(query, data, texts.mask, texts.maskCommand),
                }),
              },
            ]),
          ),
        },
      }),
    },
    actions: maskedActions.map((action) => {
      const call = (action.meta as { arg?: Partial<Call> } | undefined)?.arg ?? {}
      const renamed = (value: unknown) => maskFailure(rename(value, call.endpointName), call)
      return {
        ...action,
        ...(action.payload !== undefined && !isResponse(action) && { payload: renamed(action.payload) }),
        ...(action.error !== undefined && { error: renamed(action.error) }),
      }
    }),
  }
}

/** Creates the masking functions for the kinds of typed text. */
function createTextMasks(
  { base, actions }: Pick<Recording, 'base' | 'actions'>,
  responses: Responses,
  evicted: Iterable<string>,
  { secrets, hideSecrets }: KnownSecrets,
) {
  const begins = beginningOf(secrets)
  const abandoned = abandonedOf({ base, actions }, responses, evicted, begins)
  const maskOf = createMasks()
  const isKnown = (text: string) => responses.hold(text) && !abandoned.has(text)
  const args = shownArgumentsOf({ base, actions }, isKnown)
  const isShownPart = (part: string) =>
    args.has(part) || (isKnown(part) && (part.length >= SHORTEST_PART || responses.holdWhole(part)))
  const isAddressPart = (part: string) => OWN.has(part) || isShownPart(part)
  const isPathPart = (part: string) => ROOT.has(part) || isShownPart(part)
  /** Used for abandoned paths, whose last segment may be the start of a secret. */
  const isKnownName = (part: string) => ROOT.has(part) || responses.holdWhole(part)
  const spelled = (text: string) => (OWN.has(text) ? text : responses.spelled(text))
  /** Masks a text part by part. Parts of a known secret are masked, even if they are names. */
  const maskParts = (
    text: string,
    parts: RegExp,
    isShown: (part: string) => boolean,
    read = (part: string) => part,
  ) => {
    const left = new Set(hideSecrets(text).match(parts))
    return text.replace(parts, (part) => {
      const name = read(part)
      if (!left.has(part) || !isShown(name)) return maskOf(name)
      return spelled(name) === name ? part : encodeURIComponent(spelled(name))
    })
  }
  const maskPath = (path: string) => maskParts(path, /[^/]+/g, abandoned.has(path) ? isKnownName : isPathPart)
  const maskSetting = (value: string, name: string) =>
    name === 'type' && TYPES.has(value) ? value : isKnown(value) ? spelled(value) : HIDDEN
  const masks: Record<Kind, (text: string) => string> = {
    text: (text) => (isKnown(text) ? spelled(text) : text.startsWith('/') ? maskPath(text) : maskOf(text)),
    address: (address) => maskParts(address, /[^/?&=#]+/g, isAddressPart, decoded),
    definition: (text) => mapSettings(text, maskSetting),
    subject: (text) => mapSubject(text, (name) => masks.text(name)),
    command: (text) =>
      maskCommandWords(text, (word) => (responses.holdWhole(word) ? spelled(word) : undefined), begins),
  }
  return {
    isKnown,
    mask: masks.text,
    maskCommand: masks.command,
    maskSetting,
    maskIn: (value: unknown, typed: Typed | undefined) =>
      typed === undefined ? value : mapTyped(value, typed, (text, kind) => masks[kind](text)),
  }
}

/**
 * Returns the arguments of calls that an export keeps, and the segments of paths in them. They are kept in addresses,
 * too: pages need them there, and they reveal nothing new.
 */
function shownArgumentsOf({ base, actions }: Pick<Recording, 'base' | 'actions'>, isKnown: (text: string) => boolean) {
  const shown = new Set<string>()
  const add = (value: unknown, field = '') => {
    if (typeof value === 'number') shown.add(String(value))
    if (typeof value === 'string' && !CHOSEN.has(field) && isKnown(value))
      for (const part of value.startsWith('/') ? value.split('/') : [value]) shown.add(part)
    if (isObject(value)) for (const [name, inner] of Object.entries(value)) add(inner, name)
  }
  const { queries = {} } = (base.api ?? {}) as { queries?: Record<string, Call> }
  for (const { originalArgs } of Object.values(queries)) add(originalArgs)
  for (const { meta } of actions) add((meta as { arg?: Call } | undefined)?.arg?.originalArgs)
  return shown
}

/** Masks the arguments of calls, and remembers them so that other texts that contain them can be masked, too. */
function createCallMasks(
  { isKnown, mask, maskSetting }: ReturnType<typeof createTextMasks>,
  hideSecrets: KnownSecrets['hideSecrets'],
) {
  /** Masked arguments and the keys that contain them, with their replacements. */
  const renamed = new Map<string, string>()
  const quoted = new Set<string>()
  /** Search texts. They are masked only in failures and keys of a search: many messages contain their first letters. */
  const searched = new Set<string>()

  function maskQuotedSetting(value: string, name: string): string {
    const masked = maskSetting(value, name)
    if (masked !== value) for (const text of quotedOf(value)) quoted.add(text)
    return masked
  }

  function maskArgument(text: string, field: string, quoting = quoted): string {
    if (CHOSEN.has(field)) return text
    if (field === 'content') return mapSettings(text, maskQuotedSetting)
    // An argument without a name, such as `sql`. One with a name, such as a search, may be the start of a secret.
    const masked = mask(text)
    if (masked === text || (field === '' && OWN.has(text))) return text
    renamed.set(text, masked)
    for (const part of text.startsWith('/') ? text.split('/').filter((part) => !ROOT.has(part)) : [text])
      if (!isKnown(part)) quoting.add(part)
    return masked
  }

  return {
    maskArgument,
    maskSearch: (text: string) => maskArgument(text, '', searched),
    mask<Masked extends Call>(call: Masked): Masked {
      const { endpointName, originalArgs, queryCacheKey, fixedCacheKey } = call
      const quoting = endpointName === SEARCH ? searched : quoted
      const args = changeTexts(originalArgs, (text, field) => maskArgument(text, field, quoting))
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
    },
    /** Masks a path, or the argument in a key. */
    maskUnknown(text: string): string {
      // Paths are masked segment by segment, and only once.
      if (text.startsWith('/')) return text.includes(MASKED) ? text : mask(text)
      const [, before, argument = ''] = KEY_WITH_ARGUMENT.exec(text) ?? []
      if (before !== undefined) return argument.includes(MASKED) ? text : before + mask(argument)
      return CACHE_KEY.test(text) ? maskText(text) : text
    },
    /**
     * Returns a function that masks the arguments of all calls in another value, such as a failure of a call of
     * `endpointName`. Must be called after all calls were masked.
     */
    createRename() {
      const hideQuoted = hiderOf([...quoted])
      const hideSearched = hiderOf([...quoted, ...searched])
      return (value: unknown, endpointName?: string) => {
        return changeTexts(value, (text, field) => {
          if (CHOSEN.has(field)) return text
          const name = NAMING.has(field) || /[/( ]/.test(text) ? renamed.get(text) : undefined
          const [, before = '', argument = ''] = KEY_WITH_ARGUMENT.exec(text) ?? []
          const masked = renamed.get(argument)
          if (name !== undefined || masked !== undefined) return name ?? before + masked
          // Hide secrets first: a secret is not found after a part of it was masked.
          if (!QUOTING.has(field) && !KEY_OF_CALL.test(text)) return text
          const endpoint = endpointOf(text)
          const hide = [endpointName, endpoint].includes(SEARCH) ? hideSearched : hideQuoted
          return endpoint + hide(hideSecrets(text.slice(endpoint.length)))
        })
      }
    },
  }
}

/** Returns a function that gives different texts different masks, so that different arguments stay different keys. */
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

const keyOf = (endpointName: string, queryArgs: unknown) =>
  defaultSerializeQueryArgs({ endpointName, queryArgs, endpointDefinition: {} as never })
