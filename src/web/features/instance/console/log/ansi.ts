import type { Color, Colors } from './ansiColors'
import { colorOf, legibleColors, indexed } from './ansiColors'
import styles from './log.module.scss'

/** A run of characters with the same style. */
export type Span = { readonly text: string; readonly className?: string; readonly style?: Colors }
export type StyledText = {
  /** The text without control sequences, for search, copy and download. */
  readonly text: string
  readonly spans: readonly Span[]
  /** Whether all characters are printable ASCII, which is one column wide in any font. */
  readonly isPlain: boolean
}

// Alternatives: CSI (parameters, final byte); strings such as OSC and DCS with their terminator; any other escape;
// invisible and bidirectional characters. Of a string without terminator only the introducer is removed, so that it
// cannot hide text.
const CONTROL =
  // eslint-disable-next-line no-control-regex -- matches control characters
  /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]?|[\0-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g
const PLAIN = /^[ -~]*$/
const TAB = 8
/** Underline colours are not supported, but their parameters must be skipped. */
const UNDERLINE_COLOR = 58

type Attributes = {
  fg?: Color
  bg?: Color
  bold?: boolean
  dim?: boolean
  italic?: boolean
  underline?: boolean
  strike?: boolean
  inverse?: boolean
}

/** Interprets the colours and styles of a line as a terminal does. All other control sequences are removed. */
export function styleText(content: string): StyledText {
  if (PLAIN.test(content)) return { text: content, spans: [{ text: content }], isPlain: true }
  const spans: Span[] = []
  let attributes: Attributes = {}
  let text = ''
  const add = (raw: string) => {
    const piece = expandTabs(raw, text.length)
    if (piece === '') return
    text += piece
    spans.push({ text: piece, ...styleOf(attributes) })
  }

  let at = 0
  for (const match of content.matchAll(CONTROL)) {
    add(content.slice(at, match.index))
    at = match.index + match[0].length
    const [, parameters, final] = match
    if (final === 'm' && parameters !== undefined) attributes = attributesAfter(attributes, parameters)
  }
  add(content.slice(at))
  return { text, spans, isPlain: PLAIN.test(text) }
}

function expandTabs(text: string, column: number) {
  if (!text.includes('\t')) return text
  let expanded = ''
  for (const [index, piece] of text.split('\t').entries()) {
    if (index > 0) expanded += ' '.repeat(TAB - ((column + expanded.length) % TAB))
    expanded += piece
  }
  return expanded
}

function attributesAfter(before: Attributes, parameters: string): Attributes {
  // Private sequences also end in `m`.
  if (!/^[\d;:]*$/.test(parameters)) return before
  const after = { ...before }
  const codes = parameters.split(';')
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, ...parts] = (codes[at] ?? '').split(':').map(Number)
    if (code === 38 || code === 48 || code === UNDERLINE_COLOR) {
      const isWithin = parts.length > 0
      const numbers = isWithin ? parts : codes.slice(at + 1, at + 5).map(Number)
      const { color, used } = extendedColor(numbers, isWithin)
      if (code !== UNDERLINE_COLOR) after[code === 38 ? 'fg' : 'bg'] = color
      if (!isWithin) at += used
    } else if (code === 0) for (const name of Object.keys(after) as (keyof Attributes)[]) delete after[name]
    else Object.assign(after, code === 4 && parts[0] === 0 ? simple(24) : simple(code))
  }
  return after
}

function simple(code: number): Attributes {
  if (code >= 30 && code <= 37) return { fg: code - 30 }
  if (code >= 40 && code <= 47) return { bg: code - 40 }
  if (code >= 90 && code <= 97) return { fg: code - 82 }
  if (code >= 100 && code <= 107) return { bg: code - 92 }
  switch (code) {
    case 1:
      return { bold: true }
    case 2:
      return { dim: true }
    case 3:
      return { italic: true }
    case 4:
      return { underline: true }
    case 7:
      return { inverse: true }
    case 9:
      return { strike: true }
    case 22:
      return { bold: undefined, dim: undefined }
    case 23:
      return { italic: undefined }
    case 24:
      return { underline: undefined }
    case 27:
      return { inverse: undefined }
    case 29:
      return { strike: undefined }
    case 39:
      return { fg: undefined }
    case 49:
      return { bg: undefined }
    default:
      return {}
  }
}

function extendedColor([kind, ...rest]: number[], isWithin: boolean): { color?: Color; used: number } {
  if (kind === 5) return { color: indexed(rest[0] || 0), used: 2 }
  if (kind !== 2) return { used: 0 }
  // The colon form may hold a colour space before the three channels.
  const [red = 0, green = 0, blue = 0] = isWithin && rest.length > 3 ? rest.slice(1) : rest
  return { color: colorOf(red, green, blue), used: 4 }
}

function styleOf({ fg, bg, bold, dim, italic, underline, strike, inverse }: Attributes): Omit<Span, 'text'> {
  const names = Object.entries({ bold, dim, italic, underline, strike }).flatMap(([name, on]) =>
    on ? styles[name] : [],
  )
  const style = legibleColors(fg, bg, inverse)
  return { ...(names.length > 0 && { className: names.join(' ') }), ...(style && { style }) }
}

const styled = new WeakMap<object, StyledText>()

/** Like `styleText`, cached per line. */
export function styleLine(line: { readonly content: string }): StyledText {
  const known = styled.get(line)
  if (known) return known
  const made = styleText(line.content)
  styled.set(line, made)
  return made
}

const texts = new WeakMap<object, string>()

/** Returns the same text as `styleLine` at a lower cost: most lines are searched and measured, few are rendered. */
export function plainText(line: { readonly content: string }): string {
  const { content } = line
  if (PLAIN.test(content)) return content
  const known = styled.get(line)?.text ?? texts.get(line)
  if (known !== undefined) return known
  const made = expandTabs(content.replace(CONTROL, ''), 0)
  texts.set(line, made)
  return made
}
