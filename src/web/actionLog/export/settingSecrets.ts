import { maskLine } from '../../../contract/secrets/maskCommand'
import { withoutEscapes } from '../../../contract/secrets/secretCommands'
import { heldText } from '../../api/heldTexts'
import { QUOTED, quotedIn, valueOf } from '../redact/quotedTexts'
import { settingsOf } from './definitionSecrets'
import { decodedOf } from './normalize'

export const SEPARATORS = /[\s[\]{}(),;:"'`=<>|]+/
/** Whether a word has letters and digits, or a capital letter inside. It is then probably not an ordinary word. */
export const isRandom = (word: string) => (/\d/.test(word) && /\p{L}/u.test(word)) || /[a-z][A-Z]/.test(word)
/** Removes the dot at the end of a sentence. */
export const withoutDot = (word: string) => (word.endsWith('.') ? word.slice(0, -1) : word)

/**
 * Returns the probable secrets in the hidden part of a line: the first word, which usually is the value, and words that
 * do not look like ordinary words.
 */
export function secretsOfLine(text: string): string[] {
  const line = withoutEscapes(text)
  const hidden = withoutQuotes(hiddenOf(line))
  if (hidden === '') return []
  const words = hidden
    .split(SEPARATORS)
    .flatMap((word) => [word, ...(/[@/]/.test(word) ? word.split(/[@/]/) : [])])
    .map(withoutDot)
    .filter((word) => word.length >= 4)
  return words.filter((word, index) => index === 0 || (word.length >= 6 && isRandom(word)))
}

/** Returns the hidden part of a line, without separators at its start. */
export function hiddenOf(line: string): string {
  const masked = maskLine(line)
  if (masked === line) return ''
  return line
    .slice(masked.lastIndexOf(' '))
    .replace(/^['"\s]*[=:]?\s*/, '')
    .trim()
}

export const withoutQuotes = (text: string) => text.replace(/^(['"])(.*)\1$/, '$2')

/** Returns the hidden values of settings and their words, because a value may contain spaces and separators. */
export const secretsOfSettings = (text: string) =>
  settingsOf(text, (line) => hiddenOf(line) !== '').flatMap((line) => [
    ...valuesIn(hiddenOf(line)),
    ...secretsOfLine(line),
    ...secretsOfCall(line),
    ...secretsOfPipe(line),
    ...secretsOfArguments(line),
  ])

/** What separates the quoted arguments of a program: `["redis-cli", "-a", "…"]`. */
const BETWEEN_ARGUMENTS = /["']\s{0,20},\s{0,20}["']/g
const ENDS_OF_ARGUMENTS = /\[\s{0,20}["']|["']\s{0,20}\]/g

/** Arguments are searched as a shell has them, too, because an option begins after a blank. */
function secretsOfArguments(line: string): string[] {
  const command = line.length > LONGEST_SETTING ? line : line.replace(BETWEEN_ARGUMENTS, ' ')
  return command === line ? [] : valuesIn(hiddenOf(command.replace(ENDS_OF_ARGUMENTS, ' ')))
}

/** What may follow a value on its line: a comment, an end of an element, a quote before a separator or at the end. */
const ENDS = [/\s[;#]/, /;/, /<\//, /["']\s*\/?[,;}\])>]/, /["']\s+[\w-]+=/, /["']\s*$/]
/** The password of an address whose scheme is not hidden, and of a data source of Go. */
const IN_ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^\s/:@]{0,100}:)?(.{1,300})@/i
/** The value of an option of a program that signs in, and a value in a shell: blanks in it are escaped. */
const OPTION = /(?<!\S)-[apuwP]\s{0,5}((?:\\.|[^\s\\]){1,300})/g
const WORD = /^(?!["'`])(?:\\.|[^\s\\]){1,300}/
const BASE64 = /^(?:[A-Za-z0-9+/]{4}){2,100}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
/** Maximum number of names of secrets in one line whose values are searched. */
const MAX_NAMES = 5
/** Maximum number of words of a value that are decoded. */
const MAX_WORDS = 20
/** A number as YAML reads it: a program gets `500` for `0x1F4`. */
const YAML_NUMBER = /^[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|0x[\da-f]+|0o[0-7]+)$/i

/** Returns what the value at the start of a hidden text may be, as it is written and without its escapes. */
export function valuesIn(text: string, names = 1): string[] {
  // The end of an element: `<password>…`.
  const hidden = text.replace(/^>\s*/, '')
  if (hidden === '') return []
  const options = Array.from(hidden.matchAll(OPTION), ([, value = '']) => value)
  const values = [
    hidden,
    withoutQuotes(hidden),
    valueOf(hidden),
    WORD.exec(hidden)?.[0] ?? '',
    ...ENDS.map((end) => withoutQuotes(hidden.split(end, 1)[0]!)),
    ...(IN_ADDRESS.exec(hidden)?.slice(1) ?? []),
    ...options.flatMap((value) => [value, value.slice(value.indexOf(':') + 1)]),
    ...quotedValues(hidden),
    ...hidden.split(/[\s"'`;()]+/, MAX_WORDS).flatMap(base64In),
  ]
  const rest = names < MAX_NAMES ? hiddenOf(hidden) : ''
  return [
    ...new Set(
      values.flatMap((value) => [
        value,
        decodedOf(value),
        value.replace(/\\(.)/g, '$1'),
        ...base64In(value),
        ...numberIn(value),
      ]),
    ),
    ...(rest.length < hidden.length ? valuesIn(rest, names + 1) : []),
  ]
}

/**
 * Returns the quoted texts that are probably the value: the first one, unless words precede it, and those listed after
 * it.
 */
function quotedValues(hidden: string): string[] {
  let end = -1
  return quotedIn(hidden).flatMap(({ quoted, index, isName, value }) => {
    const before = hidden.slice(0, index)
    const words = before.replace(QUOTED, ' ').match(/[\p{L}\p{N}]+/gu)?.length ?? 0
    const isNext = end < 0 ? words <= 1 : /^\s*,\s*$/.test(hidden.slice(end, index))
    const isValue = isNext && !isName
    if (isValue) end = index + quoted.length
    return isValue || isRandom(quoted) || /(?:^|\s)-[apuwP]\s*$/.test(before) ? [value] : []
  })
}

const numberIn = (value: string) => (YAML_NUMBER.test(value) ? [String(Number(value))] : [])

/** Returns the text that a value encodes, and its part after a user name: the values of Kubernetes' secrets. */
function base64In(value: string): string[] {
  if (!BASE64.test(value)) return []
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(atob(value), (byte) => byte.charCodeAt(0)),
    )
    return /\p{Cc}/u.test(text.trim()) ? [] : [text.trim(), text.trim().slice(text.indexOf(':') + 1)]
  } catch {
    return []
  }
}

/** A call that signs in: `client.login("…")`. Its last text is the secret. */
const SIGN_IN_CALL =
  /(?<![a-z0-9])(?:log_?in(?:_?async)?|sign_?in|auth|setbasicauth|identify|pdo|mysqli(?:_connect)?|(?:bot|client)[.:](?:run|start)|discordgo\.new|create(?:default(?:builder)?|light)|getconnection|convertto-securestring)\s{0,5}([("'][^\n]{1,1000})/i

function secretsOfCall(line: string): string[] {
  const value = quotedIn(SIGN_IN_CALL.exec(line)?.[1] ?? '').at(-1)?.value
  return value === undefined ? [] : [value, value.replace(/\\(.)/g, '$1'), value.replace(/^Bot /, '')]
}

/** A text that a shell passes to a program that reads a password: `echo … | docker login --password-stdin`. */
const PIPED =
  /(?:echo|printf)\s([^|\n]{1,300})\|(?=[^\n]{0,200}(?:password-stdin|passwd|sudo\s{1,5}-\w{0,5}S|--stdin|with-token|docker\s{1,5}secret|cryptsetup))/i
/** The same in one word: `chpasswd <<< …`. */
const HERE =
  /(?:password-stdin|passwd|sudo\s{1,5}-\w{0,5}S|--stdin|with-token|docker\s{1,5}secret|cryptsetup)[^\n<]{0,200}<<<\s{0,5}([^\n]{1,300})/i

function secretsOfPipe(line: string): string[] {
  const text = (PIPED.exec(line) ?? HERE.exec(line))?.[1]?.trim() ?? ''
  return [text, ...quotedIn(text).map(({ value }) => value)].flatMap((value) => [
    value,
    value.slice(value.indexOf(':') + 1),
  ])
}

/** Maximum length of a file of which each line is searched for settings, in characters. */
const LONGEST_FILE = 200_000
/** Maximum length of a line of such a file, in characters. */
const LONGEST_SETTING = 1000
/** A setting with its value, in lines and files that are too long to be searched line by line. */
const SETTING =
  /(?:passw(?:or)?d|passphrase|passcode|pass|pwd|pw|token|secret|credentials?|cookie|webhook|key|auth)[\w.-]{0,40}["']?(?:\s{0,20}[=:]\s{0,20}|>)(?:"(?:[^"\\]|\\.){1,300}"|'[^']{1,300}'|[^\s"',;<}][^\n"',;<}]{0,300})|:\/\/[^\s/:@]{0,100}:[^\s/@]{1,300}@/gi
/** Maximum number of such settings. */
const MAX_SETTINGS = 2000

/** Whether a word is a name of secrets. */
const isNamed = (word: string) => hiddenOf(`${word}: x`) !== ''
/** Maximum number of lines of a file that is read as a list of secrets because of its name. */
const LONGEST_LIST = 20
const EXTENSION = /\.[a-z]{1,5}$/i
const STRUCTURED = /\.(?:ya?ml|json5?|toml|properties|xml|[jt]sx?|php|py|lua|conf|cfg|ini)$/i
const SETTINGS = /\.(?:ya?ml|json5?|toml|properties|conf|cfg|ini)$/i
/** Minimum length of a value that does not look random and counts as a secret because of the name of its file. */
const LONG_VALUE = 12

/** A separator of cells in a table, such as CSV, or a part of a cell. */
const IN_TABLE = /[,;\t|]|"(?:[^"]|"")*"?|[^",;\t|]+/g
/** Maximum number of lines of a table. */
const LONGEST_TABLE = 2000

function cellsOf(line: string): string[] {
  const cells = ['']
  for (const [part] of line.matchAll(IN_TABLE)) {
    if (/^[,;\t|]/.test(part)) cells.push('')
    else cells[cells.length - 1] += part
  }
  return cells.map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replaceAll('""', '"'),
  )
}

/** Returns the columns of a table that its first line names like secrets, such as `name,password`. */
function secretsOfTable([head = '', ...lines]: readonly string[]): string[] {
  const names = cellsOf(head.replace(/^\s*#/, ''))
  const columns = names.flatMap((name, at) => (hiddenOf(`${name}: x`) === '' ? [] : [at]))
  if (names.length < 2 || columns.length === 0) return []
  return lines.slice(0, LONGEST_TABLE).flatMap((line) => {
    const cells = cellsOf(line)
    return cells.length === names.length ? columns.map((at) => cells[at]!) : []
  })
}

/** A statement of SQL that names the columns of the rows after it, which may be on the next lines. */
const INSERT = /\binto\s[^()\n]{1,200}\(([^()\n]{1,1000})\)/i
/** A text that does not end extends to the end of the line: searching for its end again from each quote takes long. */
const IN_ROWS = /'(?:[^'\\]|\\.|'')*(?:'|\\?$)|[(),]|[^(),']+/g
/** The beginning of rows, and a line between them and the statement. */
const ROWS = /^\s*(?:values\s*)?(?:\(|$)/i

/** Returns the cells of each row: `('ann', 'x'), ('bob', 'y')`. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = []
  for (const [part] of text.matchAll(IN_ROWS)) {
    const row = rows.at(-1)
    if (part === '(') rows.push([''])
    else if (part === ',') row?.push('')
    else if (part !== ')' && row) row[row.length - 1] += part.trim()
  }
  return rows
}

/** Returns the values of the columns that are named like secrets: `INSERT INTO users (name, password) VALUES …`. */
function secretsOfInserts(lines: readonly string[]): string[] {
  let columns: number[] = []
  return lines.flatMap((line) => {
    const statement = INSERT.exec(line)
    const rows = statement ? line.slice(statement.index + statement[0].length) : line
    if (statement)
      columns = statement[1]!.split(',').flatMap((name, at) => (isNamed(name.replace(/\W/g, '')) ? [at] : []))
    else if (!ROWS.test(rows)) columns = []
    if (columns.length === 0) return []
    return rowsOf(rows).flatMap((row) => columns.flatMap((at) => valuesIn(row[at] ?? '')))
  })
}

/** A key in a block, such as a static key of a VPN, whose lines are hexadecimal digits. */
const KEY_BLOCK = /-----BEGIN [^-\n]{1,60}-----\n([^-]{1,20000})-----END/g

/**
 * Returns the secrets in a file that is about to be saved. In a file of one line, and in a short list, its name is the
 * key.
 */
export function secretsOfFile({ path, text: handle }: { path: string; text: string }): string[] {
  const text = heldText(handle)?.trim() ?? ''
  const start = text.slice(0, LONGEST_FILE).split('\n')
  const isLong = (line: string) => line.length > LONGEST_SETTING
  const rest = [...start.filter(isLong), text.slice(LONGEST_FILE - LONGEST_SETTING)].join('\n')
  const found: string[] = []
  if (rest.length > 0) {
    for (const [setting] of rest.matchAll(SETTING)) if (found.push(setting) >= MAX_SETTINGS) break
  }
  // Long lines are not searched as a whole: all text after a keyword would count as a secret.
  const lines = start.filter((line) => !isLong(line))
  const [directory = '', name = ''] = path.split('/').slice(-2)
  // A word for secrets may end before the extension (`pass.txt`), or be the directory of one file for each
  // (`secrets/rcon`).
  const names = [name, name.replace(EXTENSION, ''), directory].filter(isNamed)
  const isList = start.length <= LONGEST_LIST && !STRUCTURED.test(name) && names.length > 0
  const settings =
    isNamed(name.replace(EXTENSION, '')) && SETTINGS.test(name) && start.length <= LONGEST_LIST ? lines : []
  const one = lines.length === 1 && start.length === 1 && text.length <= LONGEST_FILE
  return [
    ...secretsOfSettings(one ? `${(isList && names[0]) || name}: ${lines[0]}` : lines.join('\n')),
    ...(isList
      ? lines.flatMap((line) => [...valuesIn(line.trim()), line.slice(line.lastIndexOf(':') + 1).trim()])
      : []),
    ...settings
      .flatMap((line) => valuesIn(line.replace(/^[^:=]{0,100}[:=]\s*/, '')))
      .filter((value) => isRandom(value) || value.length >= LONG_VALUE),
    ...(STRUCTURED.test(name) ? [] : secretsOfTable(lines)),
    ...secretsOfInserts(lines),
    ...Array.from(text.slice(0, LONGEST_FILE).matchAll(KEY_BLOCK), ([, key = '']) => key.trim().split(/\s+/)).flat(),
    ...secretsOfSettings(found.join('\n')),
  ]
}
