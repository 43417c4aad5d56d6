import { maskLine } from '../../contract/maskCommand'
import { looksSecret } from '../../contract/secretCommands'
import type { ConsoleLine } from '../sockets/lineBuffer'
import { hideInLines, hiderOf } from './hide'
import { maskedTexts, secretsOf } from './mask'
import type { PlainAction } from './redactAction'

type Loose = Record<string, unknown>
type Call = { arg?: { endpointName?: string; originalArgs?: unknown } }

/** Of all values together, in characters. Nobody gets there by using the console. */
const MOST = 1_000_000
/** Whatever is longer is no secret that somebody types, but a text with one. In characters. */
const LONGEST = 10_000
/** A shorter text may be part of anything. In characters. */
const SHORTEST = 6

/**
 * Remembers what was redacted in this session, in memory only, so that an export can hide it:
 *
 * - what was typed as a secret, and what was shown as one, wherever it stands: it may have been typed into a wrong field before or after;
 * - everything that was redacted in console output: a program may print it. Much of that is redacted only because it could be a secret,
 *   such as the values of a definition, and is a name elsewhere.
 */
export function createSecrets() {
  const values = createValues(4)
  const secrets = createValues(SHORTEST)
  /** Texts that are being typed, by where: of each only what it came to, not what it was after every key. */
  const typed = new Map<string, () => { values: string[]; secrets: string[] }>()
  let username = ''

  function note({ type, payload, meta }: { type: string } & Loose, plain: PlainAction) {
    if (type === 'console/linesReceived') return values.add((payload as ConsoleLine[]).flatMap(({ content }) => secretsOfLine(content)))
    if (type === 'configuration/draftTyped') {
      const { name, text } = payload as { name: string; text: string }
      typed.set(name, () => ({ values: secretsOf(payload, plain.payload), secrets: text.split('\n').flatMap(secretsOfLine) }))
      return
    }
    if (type === 'login/usernameTyped') {
      const text = String(payload)
      if (!text.startsWith(username) && !username.startsWith(text)) values.add([username])
      if (!username.startsWith(text)) username = text
      typed.set(type, () => ({ values: secretsOf(username, ''), secrets: [] }))
      return
    }
    if (type === 'console/commandSent' && payload !== plain.payload) secrets.add(secretsOfCommand(String(payload)))
    const { arg } = (meta ?? {}) as Call
    if (arg?.endpointName === 'getCrashCapsule') {
      const lines = (payload as { lines?: { content: string }[] } | undefined)?.lines ?? []
      return values.add(lines.flatMap(({ content }) => secretsOfLine(content)))
    }
    if (arg) {
      const plainArgs = (plain.meta as Call).arg?.originalArgs
      values.add(secretsOf(arg.originalArgs, plainArgs))
      secrets.add(maskedTexts(withoutNames(arg.originalArgs), plainArgs))
      if (type.endsWith('/fulfilled')) secrets.add(maskedTexts(onlySecrets(payload), plain.payload))
    }
    if (payload !== plain.payload && !type.endsWith('/rejected')) values.add(secretsOf(payload, plain.payload))
  }

  const valuesBeingTyped = (kind: 'values' | 'secrets') => [...typed.values()].flatMap((valuesOf) => valuesOf()[kind])
  const allSecrets = () => secrets.list(valuesBeingTyped('secrets'))

  return {
    note,
    /**
     * @param texts all texts of a recording.
     * @returns what hides, in each of them, what was typed or shown as a secret.
     */
    hiderOf: (texts: readonly string[]): ((text: string) => string) => hiderOf(allSecrets(), texts.join('\n')),
    /**
     * @param lines all lines of console output, in their order.
     * @returns the lines without anything that was redacted in this session; undefined when that was more than could be remembered.
     */
    hideInLines(lines: readonly string[]): string[] | undefined {
      if (values.isFull()) return undefined
      // Nothing between them: a value may go on in the next line.
      const all = lines.join('')
      return hideInLines(lines, values.list(valuesBeingTyped('values')).filter((value) => all.includes(value)), allSecrets())
    },
  }
}

/** Texts of a length that is worth looking for. */
function createValues(shortest: number) {
  const known = new Set<string>()
  let characters = 0
  const isOne = (value: string) => value.length >= shortest && value.length <= LONGEST
  return {
    add(values: readonly string[]) {
      for (const value of values) {
        // No text that is looked through holds a line break.
        if (!isOne(value) || value.includes('\n') || known.has(value) || characters > MOST) continue
        known.add(value)
        characters += value.length
      }
    },
    list: (more: readonly string[]) => [...new Set([...known, ...more.filter(isOne)])],
    isFull: () => characters > MOST,
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

/** A text of small letters that is longer than the words of commands. In characters. */
const LONG = 12

/** Of a command that was masked, what is likely to be a secret and no name of a player or a world: of one that signs in, each word. */
function secretsOfCommand(command: string): string[] {
  const [, ...words] = command.trim().split(/\s+/)
  if (looksSecret(command)) return words.length > 0 ? [words.join(' '), ...words] : [command.trim()]
  return words.length > 0 ? words.filter((word) => /[^a-z]/.test(word) || word.length >= LONG) : [command.trim()]
}

/** Arguments of a call without those that name somebody: they are masked because they may have been typed into the wrong field. */
function withoutNames(args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return args
  return Object.fromEntries(Object.entries(args).filter(([key]) => key !== 'username'))
}

const SECRET = /password|token|secret|code/i

/** Of an answer what is a secret by its name, or by being all of the answer. */
function onlySecrets(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return answer
  return Object.fromEntries(Object.entries(answer).flatMap(([key, inner]) => (typeof inner === 'object' ? [[key, onlySecrets(inner)]] : SECRET.test(key) ? [[key, inner]] : [])))
}
