/** A run of characters that look alike. */
export type Span = { readonly text: string; readonly className?: string; readonly style?: { color?: string; backgroundColor?: string } }
export type StyledText = {
  /** Without any control sequence: what is searched, copied and saved. */
  readonly text: string
  readonly spans: readonly Span[]
  /** Only characters that are one column wide in any font. */
  readonly isPlain: boolean
}

// In turn: CSI (parameters, final byte); strings such as OSC and DCS with their end; any other escape; what is invisible
// or turns the direction of text. A string without an end loses its introducer only: nothing may hide the rest of a line.
const CONTROL =
  // eslint-disable-next-line no-control-regex -- control characters are what this is about
  /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]?|[\0-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g
const PLAIN = /^[ -~]*$/
const TAB = 8

type Attributes = {
  fg?: string
  bg?: string
  bold?: boolean
  dim?: boolean
  italic?: boolean
  underline?: boolean
  strike?: boolean
  inverse?: boolean
}

/** Reads a line as a terminal would, as far as colours go. Everything else that a terminal obeys is left out. */
export function styleText(content: string): StyledText {
  if (PLAIN.test(content)) return { text: content, spans: [{ text: content }], isPlain: true }
  const spans: Span[] = []
  let attributes: Attributes = {}
  let text = ''
  const add = (raw: string) => {
    const piece = expandTabs(raw, text.length)
    if (piece === '') return
    text += piece
    spans.push({ text: piece, ...lookOf(attributes) })
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
  // Private sequences end in the same letter.
  if (!/^[\d;:]*$/.test(parameters)) return before
  const after = { ...before }
  const codes = parameters.split(';')
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, ...parts] = (codes[at] ?? '').split(':').map(Number)
    if (code === 38 || code === 48) {
      const isWithin = parts.length > 0
      const numbers = isWithin ? parts : codes.slice(at + 1, at + 5).map(Number)
      const { color, used } = extendedColor(numbers, isWithin, code === 38 ? named : ground)
      after[code === 38 ? 'fg' : 'bg'] = color
      if (!isWithin) at += used
    } else if (code === 0) for (const name of Object.keys(after) as (keyof Attributes)[]) delete after[name]
    else Object.assign(after, simple(code))
  }
  return after
}

function simple(code: number): Attributes {
  if (code >= 30 && code <= 37) return { fg: named(code - 30) }
  if (code >= 40 && code <= 47) return { bg: ground(code - 40) }
  if (code >= 90 && code <= 97) return { fg: named(code - 82) }
  if (code >= 100 && code <= 107) return { bg: ground(code - 92) }
  switch (code) {
    case 1: return { bold: true }
    case 2: return { dim: true }
    case 3: return { italic: true }
    case 4: return { underline: true }
    case 7: return { inverse: true }
    case 9: return { strike: true }
    case 22: return { bold: undefined, dim: undefined }
    case 23: return { italic: undefined }
    case 24: return { underline: undefined }
    case 27: return { inverse: undefined }
    case 29: return { strike: undefined }
    case 39: return { fg: undefined }
    case 49: return { bg: undefined }
    default: return {}
  }
}

/** The palette is the style sheet's: it has to be legible on the console's ground. */
const named = (index: number) => `var(--ansi-${index})`
const ground = (index: number) => `var(--ansi-ground-${index})`

function extendedColor([kind, ...rest]: number[], isWithin: boolean, palette: (index: number) => string): { color?: string; used: number } {
  if (kind === 5) {
    const index = rest[0] ?? 0
    return { color: index < 16 ? palette(index) : index <= 255 ? indexed(index) : undefined, used: 2 }
  }
  if (kind !== 2) return { used: 0 }
  // With colons a colour space may stand before the three.
  const [red = 0, green = 0, blue = 0] = isWithin && rest.length > 3 ? rest.slice(1) : rest
  return { color: rgb(red, green, blue), used: 4 }
}

const LEVELS = [0, 95, 135, 175, 215, 255]

function indexed(index: number) {
  if (index >= 232) return rgb(8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10)
  const [red, green, blue] = [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6]
  return rgb(LEVELS[red] ?? 0, LEVELS[green] ?? 0, LEVELS[blue] ?? 0)
}

const rgb = (...channels: Channels) => `rgb(${channels.map((channel) => Math.min(255, channel || 0)).join(' ')})`

function lookOf({ fg, bg, bold, dim, italic, underline, strike, inverse }: Attributes): Omit<Span, 'text'> {
  const names = Object.entries({ bold, dim, italic, underline, strike }).flatMap(([name, on]) => (on ? [`ansi-${name}`] : []))
  const [color, backgroundColor] = inverse ? [bg ?? 'var(--log-ground)', fg ?? 'var(--log-text)'] : [fg, bg]
  const style = backgroundColor ? { color: color ?? textOn(backgroundColor), backgroundColor } : color && { color: legible(color) }
  return { ...(names.length > 0 && { className: names.join(' ') }), ...(style && { style }) }
}

/** Any colour may be asked for, black on black too. What is too dark for the console's dark ground is mixed with white. */
function legible(color: string) {
  let channels = channelsOf(color)
  while (channels && luminance(channels) < DARKEST) channels = lighter(channels)
  return channels ? rgb(...channels) : color
}

/** The palette's grounds are dark, as is the console; of the others some are not. */
function textOn(background: string) {
  const channels = channelsOf(background)
  return channels && luminance(channels) > BRIGHT ? 'var(--log-ground)' : undefined
}

/** Seven to one on the console's ground, so that dim text is still legible. */
const DARKEST = 0.32
/** From here on dark text is easier to read than light. */
const BRIGHT = 0.18

type Channels = [number, number, number]

const channelsOf = (color: string) => /^rgb\((\d+) (\d+) (\d+)\)$/.exec(color)?.slice(1).map(Number) as Channels | undefined
const lighter = (channels: Channels) => channels.map((channel) => Math.ceil(channel + (255 - channel) / 8)) as Channels

function luminance(channels: Channels) {
  const [red, green, blue] = channels.map((channel) => (channel / 255) ** 2.2) as Channels
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const styled = new WeakMap<object, StyledText>()

/** As `styleText`, once per line. */
export function styleLine(line: { readonly content: string }): StyledText {
  const known = styled.get(line)
  if (known) return known
  const made = styleText(line.content)
  styled.set(line, made)
  return made
}
