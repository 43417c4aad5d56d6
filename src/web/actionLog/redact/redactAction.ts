import { isPlainObject } from '@reduxjs/toolkit'
import { defaultSerializeQueryArgs } from '@reduxjs/toolkit/query'
import { HIDDEN } from '../../../contract/secrets/maskCommand'
import type { ConsoleLine } from '../../sockets/lineBuffer'
import { paneOf } from '../../sockets/panes'
import { packLines } from '../record/packedLines'
import { changeTexts, hiderOf } from '../export/hide'
import { hide, isKnownSetting, maskedTexts, maskText, maskValue, secretsOf } from './mask'
import type { CallRules } from './redaction'
import { actionRules, callRules } from './redaction'
import type { Rule } from './rule'
import { each, fields, redact, ruleAt } from './rule'

/** A redacted action. `actionOf` (steps.ts) converts it into one that the reducers accept. */
export type PlainAction = { type: string; payload?: unknown; meta?: unknown; error?: unknown }
type Loose = Record<string, unknown>
type Call = { endpointName: string; originalArgs?: unknown; queryCacheKey?: string } & Loose
type Patch = { op: string; path: (string | number)[]; value?: unknown }

const mask: CallRules = { args: 'mask', result: 'mask' }
const rulesOf = (endpoint: string) => (Object.hasOwn(callRules, endpoint) ? (callRules[endpoint] ?? mask) : mask)

/** Redacts an action. Returns undefined for an action that is specific to this page load and must not be replayed. */
export function redactAction(action: { type: string } & Loose): PlainAction | undefined {
  const { type, payload, meta } = action
  if (type.startsWith('api/')) return redactApiAction(action)
  const rule = Object.hasOwn(actionRules, type) ? actionRules[type] : undefined
  const pane = paneOf(action)
  const about = pane !== undefined && { meta: { pane } }
  if (rule === 'lines') return { type, payload: packLines(payload as ConsoleLine[]), ...about }
  return {
    type,
    ...about,
    ...(payload !== undefined && {
      payload: redact(
        payload,
        rule ?? 'mask',
        (meta as { plainCommands?: readonly string[] } | undefined)?.plainCommands,
      ),
    }),
  }
}

/** Redacts an action of RTK Query. It contains arguments in `meta`, in cache keys and in the messages of failures. */
function redactApiAction(action: { type: string } & Loose): PlainAction | undefined {
  const { type, payload } = action
  switch (type) {
    case 'api/executeQuery/pending':
    case 'api/executeQuery/fulfilled':
    case 'api/executeQuery/rejected':
    case 'api/executeMutation/pending':
    case 'api/executeMutation/fulfilled':
    case 'api/executeMutation/rejected':
      return redactCall(action)
    // The payload is the id of this page's api instance.
    case 'api/config/middlewareRegistered':
      return undefined
    case 'api/queries/removeQueryResult':
    case 'api/subscriptions/unsubscribeQueryResult':
    case 'api/subscriptions/updateSubscriptionOptions':
      return { type, payload: withKey(payload as Loose) }
    case 'api/queries/queryResultPatched': {
      const { queryCacheKey, patches } = payload as { queryCacheKey: string; patches: Patch[] }
      const { result } = rulesOf(endpointOf(queryCacheKey))
      return {
        type,
        payload: {
          queryCacheKey: plainKey(queryCacheKey),
          patches: patches.map((patch) => ({
            ...patch,
            ...('value' in patch && { value: redact(patch.value, ruleAt(result, patch.path)) }),
          })),
        },
      }
    }
    case 'api/internalSubscriptions/subscriptionsUpdated':
      return {
        type,
        payload: (payload as Patch[]).map((patch) => ({
          ...patch,
          path: patch.path.map((step) => (typeof step === 'string' ? plainKey(step) : step)),
        })),
      }
    case 'api/invalidation/updateProvidedBy':
      return { type, payload: (payload as Loose[]).map(withKey) }
    case 'api/mutations/removeMutationResult':
    case 'api/resetApiState':
    case 'api/invalidateTags':
      return { type, ...(payload !== undefined && { payload }) }
    default:
      return { type, ...(payload !== undefined && { payload: maskValue(payload) }) }
  }
}

const keptMeta = [
  'requestId',
  'requestStatus',
  'startedTimeStamp',
  'fulfilledTimeStamp',
  'rejectedWithValue',
  'aborted',
  'condition',
  'direction',
]
const keptArg = [
  'type',
  'endpointName',
  'subscribe',
  'forceRefetch',
  'subscriptionOptions',
  'track',
  'fixedCacheKey',
  'direction',
  'param',
  'initialPageParam',
  'refetchCachedPages',
]
const failure = (message: Rule) =>
  fields({
    status: 'keep',
    code: 'keep',
    message,
    field: message,
    line: 'keep',
    failed: each(fields({ path: 'keep', message })),
  })

function redactCall({ type, payload, meta, error }: { type: string } & Loose): PlainAction {
  const { arg, ...rest } = meta as { arg: Call } & Loose
  const rules = rulesOf(arg.endpointName)
  const originalArgs = redact(arg.originalArgs, rules.args)
  const { queryCacheKey } = arg
  const plainMeta = {
    ...pick(rest, keptMeta),
    arg: {
      ...pick(arg, keptArg),
      ...(originalArgs !== undefined && { originalArgs }),
      ...(queryCacheKey !== undefined && {
        queryCacheKey: originalArgs === arg.originalArgs ? queryCacheKey : keyOf(arg.endpointName, originalArgs),
      }),
    },
  }
  if (!type.endsWith('/rejected'))
    return { type, ...(payload !== undefined && { payload: redact(payload, rules.result) }), meta: plainMeta }
  const hideArguments = secretsHider(arg.originalArgs, originalArgs)
  const hideSecrets =
    ruleAt(rules.args, ['content']) === 'definition' ? inDefinition(payload, hideArguments) : hideArguments
  return {
    type,
    ...(payload !== undefined && {
      payload: changeTexts(redact(payload, failure(rules.message ?? 'keep')), hideSecrets),
    }),
    meta: plainMeta,
    ...(isPlainObject(error) && { error: changeTexts(pick(error as Loose, ['name', 'message']), hideSecrets) }),
  }
}

/**
 * Returns a function that hides masked arguments in a failure: first the whole arguments, in any encoding, then their
 * words.
 */
function secretsHider(args: unknown, masked: unknown): (text: string) => string {
  if (args === masked) return (text) => text
  const hideWhole = hiderOf(maskedTexts(args, masked).filter((text) => !text.includes('\n')))
  const words = secretsOf(args, masked)
  return (text) => hide(hideWhole(text), words)
}

/**
 * What the messages of the parser quote of a definition without quotation marks: tags, aliases, directives, escapes.
 */
const QUOTED_BY_YAML =
  /(?<=\btag: |\baliases?(?: \([^)]{1,60}\))?: |\bextra characters: |\bescape sequence |\bdirective |\bYAML version |\bresolved, so )\S.*|(?<=\bThe )\S+(?= tag has no suffix)/s

/**
 * Returns a function that hides more in a failure about a definition: what the parser quotes, and the whole path of a
 * setting, unless it consists of known settings. The server names a key as YAML reads it, but it may be typed with
 * escapes, on several lines or in short words.
 */
function inDefinition(payload: unknown, hideSecrets: (text: string) => string): (text: string) => string {
  const { field } = (payload ?? {}) as { field?: unknown }
  const isKnown = typeof field !== 'string' || ['', 'revision'].includes(field) || isKnownSetting(field)
  return (text) => hideSecrets((isKnown ? text : text.replaceAll(field, HIDDEN)).replace(QUOTED_BY_YAML, HIDDEN))
}

const pick = (from: Loose, names: readonly string[]) =>
  Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]))

const keyOf = (endpointName: string, queryArgs: unknown) =>
  defaultSerializeQueryArgs({ endpointName, queryArgs, endpointDefinition: {} as never })
const endpointOf = (key: string) => key.slice(0, Math.max(0, key.indexOf('(')))
const withKey = (payload: Loose) =>
  typeof payload.queryCacheKey === 'string' ? { ...payload, queryCacheKey: plainKey(payload.queryCacheKey) } : payload

/** Redacts a cache key: the name of the endpoint with its arguments as JSON. */
function plainKey(key: string): string {
  const endpoint = endpointOf(key)
  const { args } = rulesOf(endpoint)
  if (args === 'keep') return key
  try {
    return keyOf(endpoint, redact(JSON.parse(key.slice(endpoint.length + 1, -1)), args))
  } catch {
    // A key without arguments, or the id of a request.
    return key.endsWith('(undefined)') || endpoint === '' ? key : maskText(key)
  }
}
