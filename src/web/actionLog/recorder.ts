import { ACTION_LOG_LENGTH } from '../../contract/pageRules'
import { maskLine } from '../../contract/secrets/maskCommand'
import { changeTexts } from './hide'
import { changeOutput } from './output'
import { ownWords } from './ownWords'
import type { PlainAction } from './redactAction'
import { redactAction } from './redactAction'
import { createSecrets } from './secrets'
import { maskTypedTexts } from './typedTexts'
import type { RootReducer, State } from './steps'
import { actionOf } from './steps'

/** Of the actions as they are kept. In bytes. */
const KEPT_BYTES = 7_500_000

/** What stands for a line of output. */
const LEFT_OUT = '…'

/** `at` in milliseconds since the epoch. As text an action can neither change nor hold on to what it came from. */
type Entry = { at: number; text: string; bytes: number }

export type Recording = { startedAt: number; base: State; actions: (PlainAction & { at: number })[] }

/**
 * Keeps the last actions, redacted, and the state before the first of them. That state is made of nothing but redacted
 * actions itself: whenever an action is too old to be kept, the reducers take it.
 */
export function createRecorder(base: State, startedAt: number, reduce: RootReducer) {
  /** From `first` on: what was forgotten is let go at once, its places now and then. */
  let entries: (Entry | undefined)[] = []
  let first = 0
  let bytes = 0
  const secrets = createSecrets()
  const own = ownWords(base)

  const forget = () => {
    const oldest = entries[first]
    if (!oldest) return
    entries[first] = undefined
    first += 1
    bytes -= oldest.bytes
    startedAt = oldest.at
    try {
      base = reduce(base, actionOf(JSON.parse(oldest.text) as PlainAction))
    } catch {
      // As in replay: a reducer that throws leaves the state as it was.
    }
    if (first > ACTION_LOG_LENGTH) {
      entries = entries.slice(first)
      first = 0
    }
  }

  return {
    secretTyped: (field: object, text: string) => secrets.secretTyped(field, text),
    note: (at: number, action: { type: string }) => {
      const plain = redactAction(action)
      if (!plain) return
      secrets.note(action, plain)
      const text = JSON.stringify(plain)
      const entry = { at, text, bytes: sizeOf(text) }
      entries.push(entry)
      bytes += entry.bytes
      while (entries.length - first > ACTION_LOG_LENGTH || (bytes > KEPT_BYTES && entries.length - first > 1)) forget()
    },
    /** @param withOutput Whether console output is part of it; then without any value that was redacted anywhere in this session. */
    recording: (withOutput = false): Recording => {
      const actions = entries.flatMap((entry) =>
        entry ? [{ at: Math.max(0, entry.at - startedAt), ...(JSON.parse(entry.text) as PlainAction) }] : [],
      )
      const recording = maskTypedTexts({ startedAt, base, actions })
      if (!withOutput) return withoutSecrets(changeOutput(recording, () => LEFT_OUT))
      const lines: string[] = []
      changeOutput(recording, (line) => {
        lines.push(line)
        return line
      })
      const shown = secrets.hideInLines(lines)
      let at = 0
      return withoutSecrets(changeOutput(recording, () => shown?.[at++] ?? LEFT_OUT))
    },
  }

  /** What was typed as a secret goes wherever it stands: the same value may have been typed into a field that is no secret's. */
  function withoutSecrets(recording: Recording): Recording {
    const hide = secrets.hider()
    const told = onceEach(maskLine)
    return changeRecording(recording, (text, field) => {
      // Of an address the page stays, of a key of the cache the endpoint.
      const [, name, rest] = /^(\/?\w+)([/?(].*)?$/s.exec(text) ?? []
      if (name !== undefined && own.has(name)) return name + hide(rest ?? '')
      // A definition is masked already, setting by setting.
      const stays = text.includes('\n') || NAME.test(field) || NO_SENTENCE.test(text)
      return hide(stays ? text : told(text))
    })
  }
}

/** Fields by whose texts something is found, such as a path: they stay as they are, every other text is looked at as a line of output is. */
const NAME = /(?:^key|name|path|directory|uid|id|args|key|type)s?$/i

/** Ids, paths, and what the console itself says of a call: `Successfully reset the password of bob`. A reason of the server follows a colon. */
const NO_SENTENCE = /^(?:[\w-]+|\/.*|(?:Successfully|Failed to) [^:]*)$/s

function onceEach(change: (text: string) => string): typeof change {
  const known = new Map<string, string>()
  return (text) => {
    const changed = known.get(text) ?? change(text)
    known.set(text, changed)
    return changed
  }
}

/** Whatever of a recording comes from what somebody did or was sent; the types of actions and the bookkeeping of calls do not. */
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

/** Of a call all that it was given, and the names that are made of that. */
function changeMeta(meta: unknown, change: (text: string, field: string) => string): unknown {
  const { arg } = meta as { arg?: Record<string, unknown> }
  if (!arg) return meta
  const { type, endpointName, subscriptionOptions, ...given } = arg
  const kept = Object.entries({ type, endpointName, subscriptionOptions }).filter(([, value]) => value !== undefined)
  return { ...(meta as object), arg: { ...(changeTexts(given, change) as object), ...Object.fromEntries(kept) } }
}

/** Browsers keep a text in one byte a character for as long as that is enough. */
// eslint-disable-next-line no-control-regex -- the range is what is meant
const sizeOf = (text: string) => text.length * (/[^\u0000-\u00ff]/.test(text) ? 2 : 1)
