import type { ConsoleLine } from '../sockets/lineBuffer'
import { hide, maskLine, secretsOf } from './mask'
import type { PlainAction } from './redactAction'

type Loose = Record<string, unknown>
type Call = { arg?: { endpointName?: string; originalArgs?: unknown } }

/** Of all values together, in characters. Nobody gets there by using the console. */
const MOST = 1_000_000

/**
 * Remembers what was redacted in this session, so that an export can hide it in console output as well: a program may print what
 * was typed elsewhere, before or after. Kept in memory only, and never part of a log.
 */
export function createSecrets() {
  const known = new Set<string>()
  let characters = 0
  /** Texts that are being typed, by where: of each only what it came to, not what it was after every key. */
  const typed = new Map<string, () => string[]>()
  let username = ''

  const add = (values: string[]) => {
    for (const value of values) {
      // A line of output holds no line break.
      if (value.includes('\n') || known.has(value) || characters > MOST) continue
      known.add(value)
      characters += value.length
    }
  }

  function note({ type, payload, meta }: { type: string } & Loose, plain: PlainAction) {
    if (type === 'console/linesReceived') return add((payload as ConsoleLine[]).flatMap(({ content }) => secretsOfLine(content)))
    if (type === 'configuration/draftTyped') {
      typed.set((payload as { name: string }).name, () => secretsOf(payload, plain.payload))
      return
    }
    if (type === 'login/usernameTyped') {
      const text = String(payload)
      if (!text.startsWith(username) && !username.startsWith(text)) add([username])
      if (!username.startsWith(text)) username = text
      typed.set(type, () => secretsOf(username, ''))
      return
    }
    const call = meta as Call | undefined
    if (call?.arg?.endpointName === 'getCrashCapsule') {
      const lines = (payload as { lines?: { content: string }[] } | undefined)?.lines ?? []
      return add(lines.flatMap(({ content }) => secretsOfLine(content)))
    }
    if (call?.arg) add(secretsOf(call.arg.originalArgs, (plain.meta as Call).arg?.originalArgs))
    if (payload !== plain.payload && !type.endsWith('/rejected')) add(secretsOf(payload, plain.payload))
  }

  return {
    note,
    /**
     * @param texts all in which the secrets are to be hidden: what none of them holds costs nothing more.
     * @returns undefined when there are more secrets than could be remembered.
     */
    hider(texts: Iterable<string>): ((text: string) => string) | undefined {
      if (characters > MOST) return undefined
      const all = [...texts].join('\n')
      const found = [...new Set([...known, ...[...typed.values()].flatMap((values) => values())])].filter((value) => all.includes(value))
      // A longer one may hold a shorter one.
      found.sort((one, other) => other.length - one.length)
      return (text) => hide(text, found)
    },
  }
}

const SEPARATORS = /[\s[\]{}(),;:"'`=<>|]+/
/** Letters and digits, or a capital within: no word of a sentence. */
const isRandom = (word: string) => (/\d/.test(word) && /[a-z]/i.test(word)) || /[a-z][A-Z]/.test(word)
/** At the end of a sentence. */
const withoutDot = (word: string) => (word.endsWith('.') ? word.slice(0, -1) : word)

/** Of what a line hides the first word, which is the value as a rule, and what looks like no word: the rest may be a harmless sentence. */
function secretsOfLine(line: string): string[] {
  const masked = maskLine(line)
  if (masked === line) return []
  const told = masked.slice(0, masked.lastIndexOf(' '))
  const words = line.slice(told.length).split(SEPARATORS).map(withoutDot).filter((word) => word.length >= 4)
  return words.filter((word, index) => index === 0 || (word.length >= 6 && isRandom(word)))
}
