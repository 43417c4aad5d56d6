import { HIDDEN, maskLine } from '../../contract/secrets/maskCommand'
import { looksSecret, withoutEscapes } from '../../contract/secrets/secretCommands'
import type { ConsoleLine } from '../sockets/lineBuffer'
import { hideInLines, hiderOf } from './hide'
import { maskedTexts, secretsOf } from './mask'
import type { PlainAction } from './redactAction'

type Loose = Record<string, unknown>
type Call = { arg?: { endpointName?: string; originalArgs?: unknown } }

/** Of all values together, in characters. Nobody gets there by using the console. */
const MOST = 1_000_000
/** Longer values are looked for in pieces. In characters. */
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
  const names = new Set<string>()
  /** Texts that are being typed, by where: of each only what it came to, not what it was after every key. */
  const typed = new Map<string, () => { values: string[]; secrets: string[] }>()
  let username = ''
  /** By field for secrets, the longest that was typed into it, sent or not. */
  const fields = new WeakMap<object, { longest: string }>()

  function note({ type, payload, meta }: { type: string } & Loose, plain: PlainAction) {
    if (type === 'console/linesReceived')
      return values.add((payload as ConsoleLine[]).flatMap(({ content }) => secretsOfLine(content)))
    if (type === 'configuration/draftTyped') {
      const { name, text } = payload as { name: string; text: string }
      typed.set(name, () => ({ values: secretsOf(payload, plain.payload), secrets: secretsOfDefinition(text) }))
      return
    }
    if (type === 'login/usernameTyped') {
      const text = String(payload)
      if (!text.startsWith(username) && !username.startsWith(text)) values.add([username])
      if (!username.startsWith(text)) username = text
      typed.set(type, () => ({ values: secretsOf(username, ''), secrets: [] }))
      return
    }
    if (type === 'configuration/draftRestored' || type === 'configuration/draftSaved')
      secrets.add(secretsOfDefinition((payload as { text: string }).text))
    if (type === 'console/commandSubmitted' || type === 'instance/commandsRecalled') {
      const written = [plain.payload].flat()
      secrets.add(
        [payload]
          .flat()
          .flatMap((command, index) => (command === written[index] ? [] : secretsOfCommand(String(command)))),
      )
    }
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
      if (arg.endpointName === 'login') noteName((arg.originalArgs as { username: string }).username, type)
      if (arg.endpointName === 'saveDeploymentConfig' || arg.endpointName === 'getDeploymentConfig') {
        const { content } = ((type.endsWith('/fulfilled') && arg.endpointName === 'getDeploymentConfig'
          ? payload
          : arg.originalArgs) ?? {}) as { content?: unknown }
        if (typeof content === 'string') secrets.add(secretsOfDefinition(content))
      }
    }
    if (type.endsWith('/rejected')) values.add(textsOf(payload).flatMap(secretsOfLine))
    else if (payload !== plain.payload) values.add(secretsOf(payload, plain.payload))
  }

  /** The name of a sign-in that was refused may be a password; one whose password was right is a name, and stays where a replay shows it. */
  function noteName(name: string, type: string) {
    if (type.endsWith('/fulfilled')) names.add(name)
    else if (type.endsWith('/rejected')) secrets.add([name])
  }

  const valuesBeingTyped = (kind: 'values' | 'secrets') => [...typed.values()].flatMap((valuesOf) => valuesOf()[kind])
  const allSecrets = () => secrets.list(valuesBeingTyped('secrets')).filter((secret) => !names.has(secret))

  return {
    note,
    /** @param field for a secret, whether it is sent or not. @param text what it holds after a key. */
    secretTyped(field: object, text: string) {
      const known = fields.get(field) ?? { longest: '' }
      if (!fields.has(field)) {
        fields.set(field, known)
        typed.set(`field ${typed.size}`, () => ({ values: [], secrets: [known.longest] }))
      }
      if (known.longest.startsWith(text)) return
      if (!text.startsWith(known.longest)) secrets.add([known.longest])
      known.longest = text
    },
    /** @returns what hides, in any text of a recording, what was typed or shown as a secret: everything, when that was more than could be remembered. */
    hider: () => (secrets.isFull() ? () => HIDDEN : hiderOf(allSecrets())),
    /**
     * @param lines all lines of console output, in their order.
     * @returns the lines without anything that was redacted in this session; undefined when that was more than could be remembered.
     */
    hideInLines(lines: readonly string[]): string[] | undefined {
      return values.isFull() || secrets.isFull()
        ? undefined
        : hideInLines(lines, values.list(valuesBeingTyped('values')), allSecrets())
    },
  }
}

/** Texts of a length that is worth looking for. */
function createValues(shortest: number) {
  const known = new Set<string>()
  let characters = 0
  // No text that is looked through holds a line break.
  const piecesOf = (value: string) =>
    value.length < shortest || value.includes('\n')
      ? []
      : Array.from({ length: Math.ceil(value.length / LONGEST) }, (_piece, at) =>
          value.slice(at * LONGEST, (at + 1) * LONGEST),
        )
  return {
    add(values: readonly string[]) {
      for (const value of values.flatMap(piecesOf)) {
        if (known.has(value) || characters > MOST) continue
        known.add(value)
        characters += value.length
      }
    },
    list: (more: readonly string[]) => [...new Set([...known, ...more.flatMap(piecesOf)])],
    isFull: () => characters > MOST,
  }
}

const SEPARATORS = /[\s[\]{}(),;:"'`=<>|]+/
/** Letters and digits, or a capital within: no word of a sentence. */
const isRandom = (word: string) => (/\d/.test(word) && /[a-z]/i.test(word)) || /[a-z][A-Z]/.test(word)
/** At the end of a sentence. */
const withoutDot = (word: string) => (word.endsWith('.') ? word.slice(0, -1) : word)

/** Of what a line hides the first word, which is the value as a rule, and what looks like no word: the rest may be a harmless sentence. */
function secretsOfLine(text: string): string[] {
  const line = withoutEscapes(text)
  const hidden = hiddenOf(line)
  if (hidden === '') return []
  const words = hidden
    .split(SEPARATORS)
    .flatMap((word) => [word, ...(/[@/]/.test(word) ? word.split(/[@/]/) : [])])
    .map(withoutDot)
    .filter((word) => word.length >= 4)
  return words.filter((word, index) => index === 0 || (word.length >= 6 && isRandom(word)))
}

/** What a line hides, without what stands between it and the word that gives it away, and without quotes. */
function hiddenOf(line: string): string {
  const masked = maskLine(line)
  if (masked === line) return ''
  return line
    .slice(masked.lastIndexOf(' '))
    .replace(/^['"\s]*[=:]?\s*/, '')
    .replace(/^(['"])(.*)\1$/, '$2')
    .trim()
}

/** All of a value, and its words: it may hold blanks and separators. */
const secretsOfDefinition = (text: string) =>
  text.split('\n').flatMap((line) => [hiddenOf(line), ...secretsOfLine(line)])

/** A text of small letters that is longer than the words of commands. In characters. */
const LONG = 12
/** What separates the name of an option from its value, and the parts of an address. */
const PARTS = /[=:,;@/"']+/
/** What stands before a secret is none. */
const NAME_OF_SECRET = /^-{0,2}(?:password|passwd|passphrase|secret|token|api-?key|login|register|auth)$/i
/** `-phunter2` */
const OPTION = /^-[a-zA-Z](?=.)/

/** Of a command that was masked, what is likely to be a secret and no name of a player or a world: of one that signs in, each word. */
function secretsOfCommand(command: string): string[] {
  const [, ...words] = command.trim().split(/\s+/)
  if (words.length === 0) return [command.trim()]
  const parts = words.flatMap((word) => [word, word.replace(OPTION, ''), ...word.split(PARTS)])
  if (looksSecret(command)) return [words.join(' '), ...parts.filter((part) => !NAME_OF_SECRET.test(part))]
  return parts.filter((part) => /[^a-z]/.test(part) || part.length >= LONG)
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
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
  return Object.fromEntries(
    Object.entries(answer).flatMap(([key, inner]) =>
      typeof inner === 'object' ? [[key, onlySecrets(inner)]] : SECRET.test(key) ? [[key, inner]] : [],
    ),
  )
}
