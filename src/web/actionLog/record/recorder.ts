import { ACTION_LOG_LENGTH } from '../../../contract/pageRules'
import { api } from '../../api/api'
import type { Session, SessionEnd } from '../../facts'
import { sessionEnded, sessionStarted } from '../../facts'
import { SEARCH } from '../export/echoed'
import { hideInRecording } from '../export/hideInRecording'
import { createDeletedNames } from './deletedNames'
import { ownWords } from './ownWords'
import type { PlainAction } from '../redact/redactAction'
import { redactAction } from '../redact/redactAction'
import { createSecrets } from '../export/secrets'
import { typedArgumentsOf, typedTextsOf } from '../export/typedPlaces'
import type { Recording, RootReducer, State } from '../replay/steps'
import { actionOf } from '../replay/steps'

/** Maximum total size of all kept actions, in bytes. */
const KEPT_BYTES = 7_500_000

/**
 * Maximum total length of the typed texts of evicted actions, in characters. If it is exceeded, all messages of the
 * base state are masked.
 */
const EVICTED_LENGTH = 2_000_000

/** Session ends after which another user may use the page. */
const SIGN_OUTS = new Set<SessionEnd>(['signedOut', 'gone'])
const CALL = /^\{"type":"api\/executeMutation\/pending"/

/**
 * `at` is in milliseconds since the epoch. The action is kept as JSON, which is immutable and keeps no objects alive.
 */
type Entry = { at: number; text: string; bytes: number }

/**
 * Keeps the last actions, redacted, and the base state: the state before the first of them. When the oldest action is
 * evicted, it is applied to the base state, which is therefore made of redacted actions only.
 */
export function createRecorder(base: State, startedAt: number, reduce: RootReducer) {
  /** Starts at `first`. Evicted entries are undefined until the array is compacted. */
  let entries: (Entry | undefined)[] = []
  let first = 0
  let bytes = 0
  const secrets = createSecrets()
  const deleted = createDeletedNames()
  const own = ownWords(base)
  /** Typed texts of evicted actions. The base state may still contain them. */
  const evicted = { texts: new Set<string>(), args: new Set<string>(), searches: new Set<string>() }
  let evictedLength = 0
  let user: string | undefined
  /** The action that ended the session of a user who signed out. */
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
      if (evicted.texts.has(text) || evictedLength > EVICTED_LENGTH) continue
      evicted.texts.add(text)
      evictedLength += text.length
    }
    const { arg } = (action.meta ?? {}) as { arg?: { endpointName?: string } }
    const args = arg?.endpointName === SEARCH ? evicted.searches : evicted.args
    for (const text of typedArgumentsOf(action)) if (evicted.texts.has(text)) args.add(text)
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

  /** Drops the log of the previous user: another user of the same page must not get it. */
  const forgetOtherUser = ({ subject, username }: Session) => {
    const next = subject ?? username
    if (user !== undefined && next !== user) while (first < entries.length) evict()
    user = next
  }

  return {
    fieldTyped: (field: object, text: string, isForSecret: boolean) => secrets.fieldTyped(field, text, isForSecret),
    note: (at: number, action: { type: string }) => {
      const plain = redactAction(action)
      if (!plain) return
      secrets.note(action, plain)
      deleted.note(action)
      if (action.type === sessionStarted.type) {
        forgetOtherUser(plain.payload as Session)
        signOut = undefined
      }
      const text = JSON.stringify(plain)
      const entry = { at, text, bytes: sizeOf(text) }
      entries.push(entry)
      bytes += entry.bytes
      // The responses for the previous user stay in the state until the second of these actions.
      if (action.type === sessionEnded.type) signOut = SIGN_OUTS.has(plain.payload as SessionEnd) ? entry : undefined
      if (signOut && action.type === api.util.resetApiState.type) signOut = entry
      while (entries.length - first > ACTION_LOG_LENGTH || (bytes > KEPT_BYTES && entries.length - first > 1)) evict()
    },
    /**
     * Drops the log of a user who signed out. Returns whether there is something to export: no user has signed out, or
     * a call followed the sign-out.
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
      const typed = evictedLength > EVICTED_LENGTH ? 'unknown' : evicted
      return hideInRecording(
        { startedAt, base, actions },
        { secrets, own, evicted: typed, deleted: deleted.list() },
        withOutput,
      )
    },
  }
}

/** Memory size of a string: browsers use one byte per character if all characters are Latin-1. */
// eslint-disable-next-line no-control-regex -- Latin-1
const sizeOf = (text: string) => text.length * (/[^\u0000-\u00ff]/.test(text) ? 2 : 1)
