import { HIDDEN, maskLine } from '../../../contract/secrets/maskCommand'
import type { Recording, State } from '../replay/steps'
import { responsesOf, INVALID_DEFINITION, maskNotifications, withoutQuotations } from './echoed'
import { changeTexts } from './hide'
import { changeAllOutput, changeOutput, LEFT_OUT } from './output'
import { isLikely, type createSecrets } from './secrets'
import { typedTextsOf } from './typedPlaces'
import { maskTypedTexts, type Evicted } from './typedTexts'

interface Known {
  secrets: ReturnType<typeof createSecrets>
  /** The words of the console. */
  own: ReadonlySet<string>
  /** Typed texts of evicted actions, which the base state may still contain. */
  evicted: Evicted | 'unknown'
  /** Names of what was deleted or renamed. */
  deleted: readonly string[]
}

/**
 * Hides secrets in a recording that is to be exported.
 *
 * @param withOutput whether to include console output, without the values that were redacted in this session.
 */
export function hideInRecording(
  recording: Recording,
  { secrets, own, evicted, deleted }: Known,
  withOutput: boolean,
): Recording {
  const hideEcho = secrets.echoHider()
  const typed = typedIn(recording, [...(evicted === 'unknown' ? [] : evicted.texts), ...secrets.othersTyped()])
  const extended = [...extendedOf(typed, secrets.hider()), ...deleted]
  const hideSecrets = secrets.hider(extended)
  // Hide secrets first, and in output before all other texts: a secret is not found after a part of it was masked.
  const printed = withOutput
    ? changeAllOutput(recording, (lines) =>
        evicted === 'unknown' ? undefined : secrets.hideInLines(lines, likelySecretsOf(typed, recording), extended),
      )
    : changeOutput(recording, () => LEFT_OUT)
  const answered = changeRecording(printed, (text, field) =>
    SENTENCE.test(field) || INVALID_DEFINITION.test(text) ? withoutQuotes(hideEcho(hideSecrets(text)), field) : text,
  )
  const withoutSecrets = secretsMask(hideSecrets, own)
  const masked = maskTypedTexts(answered, evicted, {
    secrets: secrets.list(extended),
    hideSecrets,
    withoutSecrets,
  })
  return changeRecording(maskNotifications(masked), withoutSecrets)
}

/** Returns the names in a path, and the rest of the path after each of them, because a name may contain slashes. */
const restsOf = (path: string) => {
  const names = path.split('/').slice(0, DEEPEST)
  return [...names, ...names.map((_name, at) => path.split('/').slice(at).join('/'))]
}
const DEEPEST = 20

/** A name such as that of a class, for which users search the output. It is probably no secret. */
const CAMEL_CASE = /^[a-z]*(?:[A-Z][a-z]{2,})+$/

/** Returns all typed texts. Of a text that was typed key by key, only the last state. */
const typedIn = ({ actions }: Recording, others: readonly string[]) =>
  [...new Set([...others, ...actions.flatMap(typedTextsOf)])]
    .sort()
    .filter((text, at, all) => !all[at + 1]?.startsWith(text))

/** Returns the typed texts, and names in typed paths, that contain a known secret: variants of a password. */
const extendedOf = (typed: readonly string[], hide: (text: string) => string) =>
  typed.flatMap((text) => (text.startsWith('/') ? text.split('/') : [text])).filter((text) => hide(text) !== text)

/**
 * Returns the typed texts that look like secrets and that no response contains, so that they are masked where they were
 * typed.
 */
function likelySecretsOf(typed: readonly string[], { base, actions }: Recording): string[] {
  const responses = responsesOf(base, actions, (text) => text)
  const isUnknown = (text: string) => isLikely(text) && !CAMEL_CASE.test(text) && !responses.hold(text)
  return typed
    .filter(isUnknown)
    .flatMap((text) => [text, ...[...text.split(/\s+/), ...restsOf(text)].filter(isUnknown)])
}

/**
 * Returns a function that hides secrets in a text with a given field name. Any text may contain a secret: the user
 * may have typed it into another field, or the server may have returned it.
 *
 * @param own the words of the console
 */
function secretsMask(
  hide: (text: string) => string,
  own: ReadonlySet<string>,
): (text: string, field: string) => string {
  const maskOnce = memoize(maskLine)
  return (text, field) => {
    // Keep the page of an address and the endpoint of a cache key.
    const [, name, rest] = /^(\/?\w+)([/?(].*)?$/s.exec(text) ?? []
    if (name !== undefined && own.has(name)) return hide(name) === name ? hide(text) : name + hide(rest ?? '')
    const stays = DEFINITION.test(field) || NAME.test(field) || NO_SENTENCE.test(text)
    return hide(stays ? text : text.split('\n').map(maskOnce).join('\n'))
  }
}

/** Fields of responses that may quote a definition. */
const SENTENCE = /^(?:reason|waitingFor|blockedReason|warnings|message|(?:syncP|p)roblem)$/
/** Masks the quotations in a message: if the definition was never opened, its values are not known as secrets. */
const withoutQuotes = (text: string, field: string) =>
  field === 'message' ? text : withoutQuotations(INVALID_DEFINITION.exec(text)?.[0].concat(HIDDEN) ?? text)

/** Fields with identifiers, such as a path. Every other text is masked like a line of output. */
const NAME = /(?:^key|name|path|directory|uid|id|args|key|type)s?$/i

/** Fields with the text of a definition, which the recorder masks. */
const DEFINITION = /^(?:content|text)$/

/**
 * Ids, paths and messages of the console without a reason of the server, which would follow a colon: `Successfully
 * reset the password of bob`.
 */
const NO_SENTENCE = /^(?:[\w-]+|\/.*|(?:Successfully|Failed to) [^:]*)$/s

function memoize(change: (text: string) => string): typeof change {
  const known = new Map<string, string>()
  return (text) => {
    const changed = known.get(text) ?? change(text)
    known.set(text, changed)
    return changed
  }
}

/** Changes all texts of a recording except the types of actions and the metadata of calls. */
function changeRecording(
  { startedAt, base, actions }: Recording,
  change: (text: string, field: string) => string,
): Recording {
  return {
    startedAt,
    base: changeTexts(base, change) as State,
    actions: actions.map(({ at, type, payload, meta, error }) => ({
      at,
      type,
      ...(payload !== undefined && { payload: changeTexts(payload, change) }),
      ...(meta !== undefined && { meta: changeMeta(meta, change) }),
      ...(error !== undefined && { error: changeTexts(error, change) }),
    })),
  }
}

/** Changes the arguments of a call and the cache key derived from them. */
function changeMeta(meta: unknown, change: (text: string, field: string) => string): unknown {
  const { arg } = meta as { arg?: Record<string, unknown> }
  if (!arg) return meta
  const { type, endpointName, subscriptionOptions, ...given } = arg
  const kept = Object.entries({ type, endpointName, subscriptionOptions }).filter(([, value]) => value !== undefined)
  return { ...(meta as object), arg: { ...(changeTexts(given, change) as object), ...Object.fromEntries(kept) } }
}
