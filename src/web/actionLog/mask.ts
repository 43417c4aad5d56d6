import { HIDDEN, maskLine } from '../../contract/secrets/maskCommand'

/** How long the text in place of a text may be: its length is told no more exactly than this. */
const LENGTHS = [16, 64, 256]
/** Of a text of many lines, so many are hinted at. */
const LINES = 50

/** A text of about the same size, from which nothing can be told. An empty one stays empty. */
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

/** The same shape, so that pages can draw it, with nothing of what was in it. */
export function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value)
  if (typeof value === 'number') return 0
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskValue(inner)]))
  }
  return value
}

/** Settings of a deployment that say nothing secret, at the top level of its text. */
const PLAIN = /^(?:(?:name|type|dataDirectory|node): \S*|description: [^\p{Cc}\u2028\u2029]*)$/u
const COMMENT = /\s#.*/
/** Keys that the product itself knows; all others were chosen by somebody, and may be anything. */
const KNOWN =
  /^\s*(?:- )?(?:name|type|description|dataDirectory|node|run|jar|javaArgs|command|env|image|port|stop|timeoutSeconds|ready|readyTimeoutSeconds|drain|discover|instances|min|max|playersPerInstance|resources|cpu|memory|data|keep|mounts|plainCommands):(?=\s|$)/
/** Values that are nothing but the structure of what follows. */
const STRUCTURE = /^(?:[[\]{}|>,]|\[\]|\{\}|[|>][+-])?$/

const maskSetting = (value: string) => (STRUCTURE.test(value.trim()) ? value : ` ${HIDDEN}`)

/** A deployment's text: its lines, its structure and the settings' names stay, the values do not: any of them may hold a secret. */
export function maskDefinition(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      // A comment may hold anything.
      if (PLAIN.test(line.replace(COMMENT, '').trimEnd())) return maskLine(line.replace(COMMENT, ` # ${HIDDEN}`))
      const key = KNOWN.exec(line)?.[0]
      if (key !== undefined) return key + maskSetting(line.slice(key.length))
      const [, indent = '', name, value = ''] = /^(\s*(?:- )*)(?:([^:]+:)(?=\s|$))?(.*)$/su.exec(line) ?? []
      if (name !== undefined) return `${indent}${HIDDEN}:${maskSetting(value)}`
      return STRUCTURE.test(value.trim()) ? line : indent + HIDDEN
    })
    .join('\n')
}

/** What of `masked` must not be told elsewhere either, such as in the text of a failure that quotes it. */
export function secretsOf(value: unknown, masked: unknown): string[] {
  if (typeof value === 'string') {
    if (typeof masked !== 'string' || value === masked) return []
    // As the value of a setting, as a word of a command or a text, and as a part of an address: `mysql://root:secret@host/name`.
    const settings = value.split('\n').map((line) =>
      line
        .replace(/^[^:]*:/, '')
        .trim()
        .replace(/^(['"])(.*)\1$/, '$2'),
    )
    return [
      value,
      ...settings,
      ...value.split(/\s+/),
      ...value.split(/[\s[\]{}(),;:"'`=<>|#&*?]+/),
      ...value.split(/[\s[\]{}(),;:"'`=<>|#&*?@/]+/),
    ].filter((word) => word.length >= 4 && !masked.includes(word))
  }
  if (typeof value !== 'object' || value === null) return []
  const inside = (typeof masked === 'object' && masked !== null ? masked : {}) as Record<string, unknown>
  return Object.entries(value).flatMap(([key, inner]) => secretsOf(inner, inside[key]))
}

/** The texts of a value that were masked as a whole. */
export function maskedTexts(value: unknown, masked: unknown): string[] {
  if (typeof value === 'string') return value === masked ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  const inside = (typeof masked === 'object' && masked !== null ? masked : {}) as Record<string, unknown>
  return Object.entries(value).flatMap(([key, inner]) => maskedTexts(inner, inside[key]))
}

/** The longest first: a secret may begin with another. */
export const hide = (text: string, secrets: readonly string[]) =>
  [...secrets]
    .sort((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text)
