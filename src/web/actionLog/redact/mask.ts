import { HIDDEN, maskLine } from '../../../contract/secrets/maskCommand'
import { quotedTexts } from './quotedTexts'

/** Lengths of masks. Few lengths, so that a mask does not reveal the length of the text. */
const LENGTHS = [16, 64, 256]
/** Maximum number of lines of a mask. */
const LINES = 50

/** Returns a mask of about the same length. An empty text stays empty. */
export function maskText(text: string): string {
  if (text === '') return text
  const lines = text.split('\n')
  if (lines.length > 1)
    return lines
      .slice(0, LINES)
      .map((line) => (line.trim() === '' ? '' : HIDDEN))
      .join('\n')
  return '•'.repeat(LENGTHS.find((length) => text.length <= length) ?? Math.max(...LENGTHS))
}

/** Masks all texts and numbers of a value and keeps its shape, so that pages can render it. */
export function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value)
  if (typeof value === 'number') return 0
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskValue(inner)]))
  }
  return value
}

/** Top-level settings of a deployment whose values are kept. An export may mask them later (`mapSettings`). */
const PLAIN = /^(?:(?:name|type|dataDirectory|node): \S+|description: \S[^\p{Cc}\u2028\u2029]*)$/u
const COMMENT = /\s#.*/
/** Keys of the definition's schema. All other keys are chosen by users. */
const KNOWN =
  /^\s*(?:- )?(?:name|type|description|dataDirectory|node|run|jar|javaArgs|command|env|image|port|stop|timeoutSeconds|ready|readyTimeoutSeconds|drain|discover|instances|min|max|playersPerInstance|resources|cpu|memory|data|keep|mounts|expose|plainCommands):(?=\s|$)/
/** Whether a path such as `run.port` or `plainCommands.0` consists of such keys. */
export const isKnownSetting = (path: string) =>
  path.split('.').every((key) => /^(?:[a-z]+|\d{1,2})$/i.test(key) && (/^\d/.test(key) || KNOWN.test(`${key}:`)))
/** YAML indicators that start a nested structure or a block scalar, and empty lists and maps. */
const STRUCTURE = /^(?:[[\]{}|>,]|\[\]|\{\}|[|>][+-])?$/

const maskSetting = (value: string) => (STRUCTURE.test(value.trim()) ? value : ` ${HIDDEN}`)

/** Masks the text of a definition: keeps its lines, structure, known keys and plain values, and masks the rest. */
export function maskDefinition(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      // A comment may contain secrets.
      const setting = line.replace(COMMENT, '').trimEnd()
      if (PLAIN.test(setting))
        return maskLine(setting) + (COMMENT.test(line) ? ` # ${HIDDEN}` : '') + (line.endsWith('\r') ? '\r' : '')
      const key = KNOWN.exec(line)?.[0]
      if (key !== undefined) return key + maskSetting(line.slice(key.length))
      const [, indent = '', name, value = ''] = /^(\s*(?:- )*)(?:([^:]+:)(?=\s|$))?(.*)$/su.exec(line) ?? []
      if (name !== undefined) return `${indent}${HIDDEN}:${maskSetting(value)}`
      return STRUCTURE.test(value.trim()) ? line : indent + HIDDEN
    })
    .join('\n')
}

/**
 * Returns the texts of `value` that are masked in `masked`, with their words and parts, so that they can be hidden in
 * other texts.
 */
export function secretsOf(value: unknown, masked: unknown): string[] {
  if (typeof value === 'string') {
    if (typeof masked !== 'string' || value === masked) return []
    // Values of settings, words of a command or text, and parts of an address: `mysql://root:secret@host/name`.
    const lines = value.split('\n')
    const settings = lines.map((line) =>
      line
        .replace(/^[^:]*:/, '')
        .trim()
        .replace(/^(['"])(.*)\1$/, '$2'),
    )
    return [
      value,
      ...settings,
      ...lines
        .flatMap((line) => quotedTexts(line))
        .flatMap((text) => [...valuesOfWord(text), ...text.split(/\s+/).flatMap(valuesOfWord)]),
      ...value.split(/\s+/),
      ...value.split(/[\s[\]{}(),;:"'`=<>|#&*?!]+/),
      ...value.split(/[\s[\]{}(),;:"'`=<>|#&*?!@/]+/),
    ].filter((word) => word.length >= 4 && !masked.includes(word))
  }
  if (typeof value !== 'object' || value === null) return []
  const inside = (typeof masked === 'object' && masked !== null ? masked : {}) as Record<string, unknown>
  return Object.entries(value).flatMap(([key, inner]) => secretsOf(inner, inside[key]))
}

/** Returns a text, and the value that it assigns: `-Dkey=value`. */
const valuesOfWord = (word: string) => [word, word.slice(word.indexOf('=') + 1)]

/** Returns the texts of `value` that differ in `masked`. */
export function maskedTexts(value: unknown, masked: unknown): string[] {
  if (typeof value === 'string') return value === masked ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  const inside = (typeof masked === 'object' && masked !== null ? masked : {}) as Record<string, unknown>
  return Object.entries(value).flatMap(([key, inner]) => maskedTexts(inner, inside[key]))
}

/** Masks the secrets in a text, the longest first, because one secret may start with another. */
export const hide = (text: string, secrets: readonly string[]) =>
  [...secrets]
    .sort((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text)
