import { ACTION_LOG_LENGTH } from '../../../contract/pageRules'
import { HIDDEN, maskLine } from '../../../contract/secrets/maskCommand'
import { api } from '../../api/api'
import type { Session, SessionEnd } from '../../facts'
import { sessionEnded, sessionStarted } from '../../facts'
import { changeTexts } from '../export/hide'
import { changeAllOutput, changeOutput, LEFT_OUT } from '../export/output'
import { ownWords } from '../export/ownWords'
import type { PlainAction } from '../redact/redactAction'
import { redactAction } from '../redact/redactAction'
import { createSecrets } from '../export/secrets'
import { typedTextsOf } from '../export/typedPlaces'
import { maskTypedTexts } from '../export/typedTexts'
import type { Recording, RootReducer, State } from '../replay/steps'
import { actionOf } from '../replay/steps'

/** Limit of all kept actions in bytes. */
const KEPT_BYTES = 7_500_000

/**
 * Limit of all typed texts of evicted actions together, in characters. Beyond it, all messages of the base state are
 * hidden.
 */
const EVICTED_LENGTH = 2_000_000

/** Ends of a session after which someone else may sit at the page. */
const SIGN_OUTS = new Set<SessionEnd>(['signedOut', 'gone'])
const CALL = /^\{"type":"api\/executeMutation\/pending"/

/**
 * `at` is in milliseconds since the epoch. The action is kept as JSON, so that it is immutable and holds no references.
 */
type Entry = { at: number; text: string; bytes: number }

/**
 * Keeps the last actions, redacted, and the state before the first of them. When the oldest action is evicted, it is
 * applied to that state, so the state is made of redacted actions only.
 */
export function createRecorder(base: State, startedAt: number, reduce: RootReducer) {
  /** Starts at `first`. Evicted entries are undefined until the array is compacted. */
  let entries: (Entry | undefined)[] = []
  let first = 0
  let bytes = 0
  const secrets = createSecrets()
  const own = ownWords(base)
  /** Typed texts of evicted actions. Other parts of the state may hold them longer. */
  const evicted = new Set<string>()
  let evictedLength = 0
  let user: string | undefined
  /** The last action of a user who signed out. */
  let signOut: Entry | undefined

  const evict = () => {
    const oldest = entries[first]
    if (!oldest) return
    entries[first] = undefined
    first += 1
    bytes -= oldest.bytes
    startedAt = oldest.at
    const action = JSON.parse(oldest.text) as PlainAction
    for (const text of typedTextsOf(action)) {
      if (evicted.has(text) || evictedLength > EVICTED_LENGTH) continue
      evicted.add(text)
      evictedLength += text.length
    }
    try {
      base = reduce(base, actionOf(action))
    } catch {
      // As in a replay, an action whose reducer throws changes nothing.
    }
    if (first > ACTION_LOG_LENGTH) {
      entries = entries.slice(first)
      first = 0
    }
  }

  /** Another user of the same page must not get the log of the user before. */
  const forgetOtherUser = ({ subject, username }: Session) => {
    const next = subject ?? username
    if (user !== undefined && next !== user) while (first < entries.length) evict()
    user = next
  }

  return {
    secretTyped: (field: object, text: string) => secrets.secretTyped(field, text),
    note: (at: number, action: { type: string }) => {
      const plain = redactAction(action)
      if (!plain) return
      secrets.note(action, plain)
      if (action.type === sessionStarted.type) {
        forgetOtherUser(plain.payload as Session)
        signOut = undefined
      }
      const text = JSON.stringify(plain)
      const entry = { at, text, bytes: sizeOf(text) }
      entries.push(entry)
      bytes += entry.bytes
      // The user's answers stay in the state until the second of these actions.
      if (action.type === sessionEnded.type) signOut = SIGN_OUTS.has(plain.payload as SessionEnd) ? entry : undefined
      if (signOut && action.type === api.util.resetApiState.type) signOut = entry
      while (entries.length - first > ACTION_LOG_LENGTH || (bytes > KEPT_BYTES && entries.length - first > 1)) evict()
    },
    /**
     * Drops the log of a user who signed out. Returns whether there is anything to export: there was no sign-out, or a
     * call followed it.
     */
    forgetSignedOut: (): boolean => {
      if (!signOut) return true
      for (let count = entries.indexOf(signOut) - first; count >= 0; count--) evict()
      return entries.some((entry) => entry && CALL.test(entry.text))
    },
    /** @param withOutput whether to include console output, without the values that were redacted in this session. */
    recording: (withOutput = false): Recording => {
      const actions = entries.flatMap((entry) =>
        entry ? [{ at: Math.max(0, entry.at - startedAt), ...(JSON.parse(entry.text) as PlainAction) }] : [],
      )
      const hideEcho = secrets.echoHider()
      const hideSecrets = secrets.hider()
      // Hides secrets first, because a secret cannot be found after a part of it was hidden.
      const answered = changeRecording({ startedAt, base, actions }, (text, field) =>
        SENTENCE.test(field) || INVALID_DEFINITION.test(text)
          ? withoutQuotes(hideEcho(hideSecrets(text)), field)
          : text,
      )
      const withoutSecrets = secretsMask(hideSecrets)
      const recording = maskTypedTexts(answered, evictedLength > EVICTED_LENGTH ? 'unknown' : evicted, {
        secrets: secrets.list(),
        hideSecrets,
        withoutSecrets,
      })
      const shown = withOutput
        ? changeAllOutput(recording, (lines) => secrets.hideInLines(lines))
        : changeOutput(recording, () => LEFT_OUT)
      return changeRecording(shown, withoutSecrets)
    },
  }

  /**
   * Returns a function that hides secrets in a text, given the name of its field: the same value may have been typed
   * into another field, or the server may have returned it.
   */
  function secretsMask(hide: (text: string) => string): (text: string, field: string) => string {
    const maskOnce = memoize(maskLine)
    return (text, field) => {
      // Keep the page of an address and the endpoint of a cache key.
      const [, name, rest] = /^(\/?\w+)([/?(].*)?$/s.exec(text) ?? []
      if (name !== undefined && own.has(name)) return hide(name) === name ? hide(text) : name + hide(rest ?? '')
      const stays = DEFINITION.test(field) || NAME.test(field) || NO_SENTENCE.test(text)
      return hide(stays ? text : text.split('\n').map(maskOnce).join('\n'))
    }
  }
}

/** Fields of answers that may quote a definition. */
const SENTENCE = /^(?:reason|waitingFor|blockedReason|warnings|message|(?:syncP|p)roblem)$/
/**
 * Parts of a sentence about an instance that may quote its definition: a text in quotes, a path, a pattern of a console
 * line. An unclosed quote extends to the end, so that matching takes linear time.
 */
const QUOTES = /"(?:[^"\\]|\\.)*"?|(?<![^\s("])\/[^\s")]+|(?<=that matches ).+/gs

/** Masks the quotations in a sentence. The definition may never have been opened, so its values need not be known. */
const withoutQuotes = (text: string, field: string) =>
  field === 'message' ? text : (INVALID_DEFINITION.exec(text)?.[0].concat(HIDDEN) ?? text).replace(QUOTES, HIDDEN)

/** The description of a deployment whose stored definition is not valid (platform/deployments/storedDeployments.ts). */
const INVALID_DEFINITION = /^Its configuration is not valid: /

/** Fields that identify something, such as a path. Every other text is masked like a line of output. */
const NAME = /(?:^key|name|path|directory|uid|id|args|key|type)s?$/i

/** Fields with the text of a definition, which is masked when it is recorded. */
const DEFINITION = /^(?:content|text)$/

/**
 * Ids, paths and messages of the console: `Successfully reset the password of bob`. A reason of the server follows a
 * colon.
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

/** Memory of a string: browsers use one byte per character if all of them are Latin-1. */
// eslint-disable-next-line no-control-regex -- Latin-1
const sizeOf = (text: string) => text.length * (/[^\u0000-\u00ff]/.test(text) ? 2 : 1)
