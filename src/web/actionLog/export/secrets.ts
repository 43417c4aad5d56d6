import { HIDDEN, maskCommand } from '../../../contract/secrets/maskCommand'
import { looksSecret } from '../../../contract/secrets/secretCommands'
import { commandOfNote, isCommandWithheld } from '../../../contract/sockets/commandNote'
import { heldSecrets } from '../../api/heldTexts'
import type { ConsoleLine } from '../../sockets/lineBuffer'
import { isCommandName, wordsOfHarmless } from './commandWords'
import { decodedTexts } from './encoded'
import { hideInLines, hiderOf } from './hide'
import { formsOf } from './secretForms'
import {
  hiddenOf,
  isRandom,
  secretsOfFile,
  secretsOfLine,
  secretsOfSettings,
  SEPARATORS,
  valuesIn,
  withoutDot,
  withoutQuotes,
} from './settingSecrets'
import { maskDefinition, maskedTexts, secretsOf } from '../redact/mask'
import { quotedTexts } from '../redact/quotedTexts'
import type { PlainAction } from '../redact/redactAction'

type Loose = Record<string, unknown>
type Call = { arg?: { endpointName?: string; originalArgs?: unknown }; plainCommands?: readonly string[] }

/** Maximum total length of all values, in characters. */
const MOST = 1_000_000
/** Longer values are split into pieces of this length. */
const LONGEST = 10_000
/** Minimum length of a secret that is hidden everywhere: a shorter one may be part of any text. */
const SHORTEST = 6

/**
 * Remembers which values were redacted since the page was loaded, so that an export can hide them. The values are kept
 * in memory only. There are five kinds:
 *
 * - secrets: texts that were typed or shown as secrets. They are hidden everywhere, because they may have been typed
 *   into a wrong field;
 * - values: everything that was redacted, such as the values of a definition. They are hidden in console output only,
 *   because elsewhere many of them are names;
 * - commandTexts: texts that were typed in commands. They are hidden in console output only, with their long parts;
 * - others: texts of fields that are not for secrets. Those that look like secrets are hidden in console output only;
 * - echoes: values of stored definitions, which the server quotes in its messages about instances.
 */
export function createSecrets() {
  const known = createKnown()
  const { values, secrets, echoes, commandTexts, others, names } = known
  /** Texts that are being typed, by field. Only the latest value of each field counts. */
  const typed = new Map<string, () => { values: string[]; secrets: string[]; others?: string[] }>()
  let username = ''
  /** Number of lines that may still repeat a command which the platform does not show. */
  let repeating = 0
  /** First words of commands that the definitions of opened consoles call harmless. */
  const harmless = new Set<string>()
  /** The longest text that was typed into each field, submitted or not. */
  const fields = new WeakMap<object, { longest: string; isForSecret: boolean }>()

  /** Remembers what was redacted in an action. @param plain the same action, redacted */
  function note({ type, payload, meta }: { type: string } & Loose, plain: PlainAction) {
    const { arg, plainCommands = [] } = (meta ?? {}) as Call
    for (const command of plainCommands) harmless.add(command)
    if (type === 'console/linesReceived') return noteOutput(payload as ConsoleLine[])
    if (type === 'configuration/draftTyped') {
      const { name, text } = payload as { name: string; text: string }
      typed.set(name, () => ({ values: secretsOf(payload, plain.payload), secrets: secretsOfSettings(text) }))
      return
    }
    if (type === 'login/usernameTyped') return noteTypedName(String(payload))
    if (arg?.endpointName === 'getCrashCapsule')
      return noteOutput((payload as { lines?: ConsoleLine[] } | undefined)?.lines ?? [])
    if (type === 'configuration/draftRestored' || type === 'configuration/draftSaved')
      secrets.add(secretsOfSettings((payload as { text: string }).text))
    if (type === 'console/commandSubmitted' || type === 'instance/commandsRecalled')
      noteCommands(known, [payload].flat().map(String), [plain.payload].flat())
    if (arg) noteCall(known, type, arg, payload, plain)
    if (type.endsWith('/rejected')) values.add(textsOf(payload).flatMap(secretsOfLine))
    else if (payload !== plain.payload) values.add(secretsOf(payload, plain.payload))
  }

  /** Output may also show the commands of other users, and those that were sent before the page was loaded. */
  function noteOutput(lines: readonly ConsoleLine[]) {
    values.add(lines.flatMap(({ content }) => secretsOfLine(content)))
    const commands = lines.flatMap(({ type, content }) => (type === 'system' && commandOfNote(content)) || [])
    noteCommands(
      // Hidden in output only, so that another user cannot make the export hide everything.
      { ...known, secrets: values },
      commands,
      commands.map((command) => maskCommand(command, [...harmless])),
    )
    for (const { type, content } of lines) {
      if (type === 'system' && isCommandWithheld(content)) repeating = REPEATING
      else if (repeating-- > 0) noteRepeated(known, content)
    }
  }

  function noteTypedName(text: string) {
    if (!text.startsWith(username) && !username.startsWith(text)) values.add([username])
    if (!username.startsWith(text)) username = text
    typed.set('login/usernameTyped', () => ({ values: secretsOf(username, ''), secrets: [] }))
  }

  const valuesBeingTyped = (kind: 'values' | 'secrets' | 'others') =>
    [...typed.values()].flatMap((valuesOf) => valuesOf()[kind] ?? [])
  const allSecrets = (more: readonly string[]) => [
    ...new Set(
      secrets
        .list([...valuesBeingTyped('secrets'), ...more])
        .filter((secret) => !names.has(secret))
        .flatMap(formsOf),
    ),
  ]

  return {
    note,
    /** Returns all known secrets, and `more`, in all forms. */
    list: allSecrets,
    /** Records the current value of a field. */
    fieldTyped(field: object, text: string, isForSecret: boolean) {
      const known = fields.get(field) ?? { longest: '', isForSecret }
      if (!fields.has(field)) {
        fields.set(field, known)
        typed.set(`field ${typed.size}`, () => ({
          values: [],
          secrets: known.isForSecret ? [known.longest] : [],
          others: known.isForSecret ? [] : [known.longest],
        }))
      }
      // React may use the element of a name for the password of the next form.
      if (isForSecret && !known.isForSecret) {
        others.add([known.longest])
        Object.assign(known, { longest: '', isForSecret })
      }
      if (known.longest.startsWith(text)) return
      if (!text.startsWith(known.longest)) (known.isForSecret ? secrets : others).add([known.longest])
      known.longest = text
    },
    /** Returns the texts that were typed into fields that are not for secrets. */
    othersTyped: () => others.list(valuesBeingTyped('others')),
    /**
     * Returns a function that hides all secrets, and `more`, in a text. If too many secrets were remembered, it hides
     * the whole text.
     */
    hider: (more: readonly string[] = []) => (secrets.isFull() ? () => HIDDEN : hiderOf(allSecrets(more))),
    /** Returns a function that hides the values of stored definitions in a message of the server. */
    echoHider: () => (echoes.isFull() ? () => HIDDEN : hiderOf(echoes.list([]))),
    /**
     * Hides all redacted values in lines of console output.
     *
     * @param lines all lines, in order.
     * @param typed texts that may be secrets although they were not typed as such.
     * @param more secrets that are not known here.
     * @returns undefined if too many values were remembered.
     */
    hideInLines(lines: readonly string[], typed: readonly string[], more: readonly string[]): string[] | undefined {
      if (values.isFull() || secrets.isFull() || commandTexts.isFull()) return undefined
      const spoken = commandTexts.list(typed).flatMap(formsOf)
      const likely = new Set(spoken.filter((text) => isLikely(text) && !/\s/.test(text)))
      return hideInLines(
        lines,
        values.list(valuesBeingTyped('values')),
        [...allSecrets(more), ...likely],
        spoken.filter((text) => !likely.has(text)),
      )
    },
  }
}

/** Number of lines after a command which the platform does not show that are searched for it. */
const REPEATING = 20
/** Maximum number of words of such a line with which the command may begin. */
const MAX_BEGINNINGS = 30

/** Remembers what seems to be secret in a line if it repeats a command, with the command at any place. */
function noteRepeated({ values, commandTexts }: Known, line: string) {
  const words = line.split(' ')
  const found = words.slice(0, MAX_BEGINNINGS).flatMap((_word, at) => secretsOfLine(words.slice(at).join(' ')))
  for (const kind of [values, commandTexts]) kind.add(found)
}

type Known = ReturnType<typeof createKnown>

const createKnown = () => ({
  values: createValues(4),
  secrets: createValues(SHORTEST),
  echoes: createValues(SHORTEST),
  commandTexts: createValues(SHORTEST),
  others: createValues(SHORTEST),
  /** Usernames of successful sign-ins. */
  names: new Set<string>(),
})

/** @param redacted the same commands, redacted */
function noteCommands(
  { values, secrets, commandTexts }: Known,
  commands: readonly string[],
  redacted: readonly unknown[],
) {
  const isMasked = (command: string, index: number) => command !== redacted[index]
  const masked = commands.filter(isMasked)
  secrets.add(masked.flatMap((command) => [...secretsOfCommand(command), ...decodedTexts(command)]))
  values.add([...masked, ...commands.flatMap((command) => quotedTexts(command, false))])
  commandTexts.add(commands.flatMap((command, index) => valuesOfCommand(command, isMasked(command, index))))
}

function noteCall(known: Known, type: string, call: NonNullable<Call['arg']>, payload: unknown, plain: PlainAction) {
  const { values, secrets } = known
  const { endpointName, originalArgs } = call
  const plainArgs = (plain.meta as Call).arg?.originalArgs
  const isAnswered = type.endsWith('/fulfilled')
  values.add(secretsOf(originalArgs, plainArgs))
  secrets.add(maskedTexts(withoutNames(originalArgs), plainArgs))
  if (isAnswered) secrets.add([...maskedTexts(onlySecrets(payload), plain.payload), ...shownSecrets(payload)])
  if (endpointName === 'saveFile') secrets.add(secretsOfFile(originalArgs as { path: string; text: string }))
  if (endpointName === 'login') noteName(known, (originalArgs as { username: string }).username, type)
  if (endpointName === 'saveDeploymentConfig') noteDefinition(known, originalArgs)
  if (endpointName === 'getDeploymentConfig') noteDefinition(known, isAnswered ? payload : originalArgs)
}

function noteDefinition({ secrets, echoes }: Known, holder: unknown) {
  const { content } = (holder ?? {}) as { content?: unknown }
  if (typeof content !== 'string') return
  secrets.add(secretsOfSettings(content))
  echoes.add(valuesOfDefinition(content))
}

/** The username of a failed sign-in may be a password. The username of a successful one is not hidden. */
function noteName({ secrets, names }: Known, name: string, type: string) {
  if (type.endsWith('/fulfilled')) names.add(name)
  else if (type.endsWith('/rejected')) secrets.add([name])
}

/** A bounded set of texts that have a minimum length. */
function createValues(shortest: number) {
  const known = new Set<string>()
  let characters = 0
  // Split at line breaks, because the searched texts have none.
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

/** A word of lower-case letters of at least this length is treated as a secret. */
const LONG = 12
/** Ignores quotes, because normalization removes them (normalize.ts). */
const isUnusual = (word: string) => /[^a-z'"`]/.test(word) || word.length >= LONG

const COMMENTS = /(?:^|[^\S\n])#.*$/gm
const QUOTED = /(["'])((?:(?!\1).)*)\1/g
/** Maximum length of an echo, in characters. The server does not quote longer values, such as scripts. */
const LONGEST_ECHO = 300

/** Returns the masked values of a definition that are probably not ordinary words. */
function valuesOfDefinition(content: string): string[] {
  const text = content.replace(COMMENTS, '')
  const values = [
    ...secretsOf(text, maskDefinition(text)),
    ...Array.from(text.matchAll(QUOTED), ([, , value = '']) => value),
  ]
  return values.filter((value) => isUnusual(value) && value.length <= LONGEST_ECHO)
}
/** Separators between the name of an option and its value, and between the parts of an address. */
const PARTS = /[=:,;@/"']+/g
const SIGNS = /[^\p{L}\p{N}]+/gu
/** Returns a text without the signs around it: `%X%`, `*X*`, `X.` */
const withoutSigns = (text: string) => text.replace(/^[^\p{L}\p{N}]{1,9}/u, '').replace(/[^\p{L}\p{N}]{1,9}$/u, '')
/** Whether a word of a command is rather a secret than an ordinary word: random, or a long number, perhaps grouped. */
export const isLikely = (word: string) => isRandom(word) || /^(?:\d{6,}|\d{3,}(?:[- ]\d{3,})+)$/.test(word)
/** Maximum number of rests of one word. */
const MAX_RESTS = 20

/** Returns the parts of a word, and its rest after each separator, because a secret may contain separators. */
const partsOf = (word: string) => [
  word,
  word.replace(OPTION, ''),
  withoutSigns(word),
  ...word.split(SIGNS).filter(isLikely),
  ...word.split(PARTS),
  ...Array.from(word.matchAll(PARTS), ({ 0: { length }, index }) => word.slice(index + length))
    .slice(0, MAX_RESTS)
    .map((rest) => rest.replace(/["'`;,})\]]{1,9}$/, '')),
]
/** Names of options and commands that precede a secret. */
const NAME_OF_SECRET = /^-{0,2}(?:password|passwd|passphrase|secret|token|api-?key|login|register|auth)$/i
/** The name of an option that its value follows without a space: `-phunter2`. */
const OPTION = /^-[a-zA-Z](?=.)/

/** Returns a command from this word on: a passphrase may follow a user name, an option or its name without a blank. */
const restsOf = (word: string, others: readonly string[]) =>
  [word, word.replace(OPTION, ''), word.replace(/^.*?[=:]/, '')].map((start) =>
    withoutQuotes([start, ...others].join(' ')),
  )
/** Returns the text that the words repeat: a new password is typed twice. */
const repeatedIn = (words: readonly string[]) => {
  const text = words.slice(0, words.length / 2).join(' ')
  return words.length % 2 === 0 && text === words.slice(words.length / 2).join(' ') ? [text] : []
}

/**
 * Returns the words of a masked command that are probably secrets and not names of players or worlds. In a sign-in
 * command, all words count as secrets.
 */
function secretsOfCommand(command: string): string[] {
  const [first = '', ...others] = command.trim().split(/\s+/)
  // A command of one word may be the reply to a password prompt.
  const words = others.length > 0 && isCommandName(first) ? others : [first, first.replace('/', ''), ...others]
  // A code may be typed in groups, a passphrase in quotes, and both twice.
  const text = others.join(' ')
  const all = others.length > 0 ? [text, withoutQuotes(text), ...repeatedIn(others)] : words
  const parts = words.map((word) => word.replace(/^['"`]+|['"`]+$/g, '')).flatMap(partsOf)
  if (looksSecret(command))
    return [
      ...all,
      ...parts.filter((part) => !NAME_OF_SECRET.test(part)),
      ...others.slice(0, MAX_RESTS).flatMap((word, index) => restsOf(word, others.slice(index + 1))),
      ...valuesIn(hiddenOf(command)),
    ]
  const unusual = parts.filter(isUnusual)
  return unusual.length > 0 || others.length === 0 ? [...all, ...unusual] : []
}

/**
 * Returns the texts of a command that are hidden in output, with their long parts: the text after the first word (in a
 * harmless command, only the free text), and unusual words.
 */
function valuesOfCommand(command: string, isMasked: boolean): string[] {
  const [first = '', ...words] = command.trim().split(/\s+/)
  const said = isMasked ? (isCommandName(first) ? words : [first, ...words]) : wordsOfHarmless(command)
  const parts = said.flatMap((word) => [word, withoutSigns(word), ...word.split(SEPARATORS)]).map(withoutDot)
  const text = said.join(' ')
  return [text, withoutSigns(text), ...parts.filter(isLikely)].filter((part) => part.length >= SHORTEST)
}

/** Returns the secrets that a component is about to show. The store contains only a handle of the response. */
function shownSecrets(response: unknown): readonly string[] {
  const { text } = (response ?? {}) as { text?: unknown }
  return typeof text === 'string' ? heldSecrets(text) : []
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/**
 * Returns the arguments of a call without the username. A username is not a secret: it is masked only because the user
 * may have typed a password into the wrong field.
 */
function withoutNames(args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return args
  return Object.fromEntries(Object.entries(args).filter(([key]) => key !== 'username'))
}

const SECRET = /password|token|secret|code/i

/** Returns the fields of a response whose names indicate secrets, or the response itself if it is a text. */
function onlySecrets(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return response
  return Object.fromEntries(
    Object.entries(response).flatMap(([key, inner]) =>
      typeof inner === 'object' ? [[key, onlySecrets(inner)]] : SECRET.test(key) ? [[key, inner]] : [],
    ),
  )
}
