import { maskLine } from '../../../contract/secrets/maskCommand'
import { withoutEscapes } from '../../../contract/secrets/secretCommands'
import { heldText } from '../../api/heldTexts'
import { settingsOf, valueOf } from './definitionSecrets'
import { decodedOf } from './reading'

export const SEPARATORS = /[\s[\]{}(),;:"'`=<>|]+/
/** Whether a word has letters and digits, or a capital letter inside. It is then probably not an ordinary word. */
export const isRandom = (word: string) => (/\d/.test(word) && /[a-z]/i.test(word)) || /[a-z][A-Z]/.test(word)
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
  ])

/** What may follow a value on its line: a comment, an end of an element, a quote before a separator or at the end. */
const ENDS = [/\s[;#]/, /<\//, /["']\s*\/?[,;}\])>]/, /["']\s+[\w-]+=/, /["']\s*$/]
/** The password of an address whose scheme is not hidden, and of a data source of Go. */
const IN_ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^\s/:@]{0,100}:(.{1,300})@/i
const QUOTED = /"((?:[^"\\]|\\.){1,300})"|'((?:[^']|''){1,300})'/g
/** Maximum number of quoted texts of one line. */
const MAX_QUOTED = 20

/** Returns what the value at the start of a hidden text may be, as it is written and without its escapes. */
export function valuesIn(text: string): string[] {
  // The end of an element: `<password>…`.
  const hidden = text.replace(/^>\s*/, '')
  if (hidden === '') return []
  const quoted = Array.from(hidden.matchAll(QUOTED), ([text, double, single = '']) => ({
    text: double === undefined ? single.replaceAll("''", "'") : valueOf(text),
    // The first one is the value, unless another text than a name precedes it: `value="…"`.
    isValue: /^[\s,[({]*(?:[\w-]{1,40}\s*[=:]\s*)?$/.test(hidden.slice(0, hidden.indexOf(text))),
  }))
  const values = [
    hidden,
    withoutQuotes(hidden),
    valueOf(hidden),
    ...ENDS.map((end) => withoutQuotes(hidden.split(end, 1)[0]!)),
    ...(IN_ADDRESS.exec(hidden)?.slice(1) ?? []),
    ...quoted.slice(0, MAX_QUOTED).flatMap(({ text, isValue }) => (isValue || isRandom(text) ? [text] : [])),
  ]
  return [...new Set(values.flatMap((value) => [value, decodedOf(value), value.replace(/\\(.)/g, '$1')]))]
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

/** Returns the secrets in a file that is about to be saved. In a file of one line, the file name is the key. */
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
  const one = lines.length === 1 && start.length === 1 && text.length <= LONGEST_FILE
  return [
    ...secretsOfSettings(one ? `${path.slice(path.lastIndexOf('/') + 1)}: ${lines[0]}` : lines.join('\n')),
    ...secretsOfSettings(found.join('\n')),
  ]
}
