import { escapesIn } from '../../../contract/secrets/secretCommands'

/** A normalized text: decoded, in lower case, without colour codes, spaces, dashes, commas, quotes and backslashes. */
export type Normalized = {
  text: string
  /** For each UTF-16 code unit of `text`, the start of its source in the original text; the end is in `ends`. */
  starts: number[]
  ends: number[]
  /** Of a line that was joined with earlier ones: the line of a character that ends here, and the end of its source. */
  rest?: { line: number; end: number }
}

// Read once, because jest makes each access to a global slow.
const { fromCharCode } = String
const { parseInt } = Number

/** Encoded characters in URLs, JSON, programs and HTML. */
const ENCODED =
  /(?:%[0-9a-f]{2})+|%u[0-9a-f]{4}|\\u00(?:0[0-9a-f]|10)[0-9a-f]{4}|\\u[0-9a-f]{4}|\\u\{[0-9a-f]{1,6}\}|\\x\{[0-9a-f]{1,6}\}|(?:\\x[0-9a-f]{2})+|'\$'(?=\\)|\\(?:e|0?33)(?=\[)|(?:\\0?[0-3][0-7]{2})+|\\["'\\/bfnrt]|&#x[0-9a-f]{1,8};?|&#[0-9]{1,8};?|&(?:amp|lt|gt|quot|apos|nbsp|shy|szlig|[a-z](?:uml|acute|grave|circ|tilde|cedil|ring|caron));/gi

/** A bold letter as manual pages print it: the letter, one step back, and the letter again. */
// eslint-disable-next-line no-control-regex -- the step back
const OVERSTRUCK = /([^\u0008])\u0008(?=\1)/gu

const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  shy: '',
  szlig: 'ss',
}
/** Limit of nested encodings, such as JSON inside JSON. */
const PASSES = 3
/**
 * Ignored characters: spaces, `+` (a space in forms), dashes and `_` (optional in codes, and used for spaces in names),
 * quotes and backslashes (escapes of shells, YAML and SQL: `\$`, `''` and `'\''`), commas (lists of words or letters),
 * accents, invisible characters, the sign of a colour code that is not one, and the characters that servers and the
 * platform (`␀` for NUL) write instead of invisible ones.
 */
const IGNORED = /[\s,+'"`\\§\p{Pd}\p{Pc}\p{Cc}\p{M}\p{Default_Ignorable_Code_Point}\ufffd\u2400]/gu

/** Ignored characters that belong to the character before them. */
const ATTACHED = /[+\p{M}\p{Default_Ignorable_Code_Point}\ufffd\u2400]/u

/** A text without encoded characters, colour codes and non-ASCII characters. */
const SIMPLE = /^[ -$'-[\]-~]*$/

/** Returns the normalized text only, which is faster than `normalize`. */
export const normalizedText = (text: string): string =>
  SIMPLE.test(text) ? text.replaceAll(/[ ,+_'"`-]+/g, '').toLowerCase() : normalize(text).text

/** Returns a text without one level of encoding. Its case, spaces and colours stay. */
export const decodedOf = (text: string): string => text.replace(ENCODED, decode)

/** Normalizes a text and maps it to the original. */
export function normalize(text: string): Normalized {
  let normalized = replace(
    { text, starts: places(text.length), ends: places(text.length, 1) },
    escapesIn(text),
    () => '',
  )
  normalized = replace(normalized, normalized.text.matchAll(OVERSTRUCK), () => '')
  for (let pass = 0; pass < PASSES; pass++) {
    const decoded = replace(normalized, normalized.text.matchAll(ENCODED), decode)
    if (decoded === normalized) break
    normalized = decoded
  }
  // Colour codes may be encoded, too. Escape sequences that contain texts are kept, so that secrets in them are found.
  const colours = [...escapesIn(normalized.text)].filter(({ 0: found }) => !HOLDS_TEXT.test(found))
  return folded(replace(normalized, colours, () => ''))
}

// eslint-disable-next-line no-control-regex -- such sequences begin with the characters of these numbers
const HOLDS_TEXT = /^(?:\u001b\]|\u009d)/

/** An incomplete encoded character or colour code at the end of a line. A letter may have several bytes: `%C3%A4`. */
const INCOMPLETE =
  // eslint-disable-next-line no-control-regex -- colours begin with that character
  /(?:%(?:25)*(?:[0-9a-f]{0,2}|u[0-9a-f]{0,3})|\\(?:u(?:[0-9a-f]{0,3}|00(?:0[0-9a-f]|10)[0-9a-f]{0,3}|\{[0-9a-f]{0,6})|x(?:[0-9a-f]{0,2}|\{[0-9a-f]{0,6})|0?[0-3]?[0-7]{0,2})?|&(?:#x?[0-9a-f]{0,8}|[a-z]{0,6})|\u001b(?:\[[0-?]*)?)$/i

/** Maximum length of an encoded byte, in characters. */
const LONGEST_ENCODED = 16

/** Whether a backslash continues a line on the next line, rather than being the start of an escape such as `\n`. */
const continues = (line: string, next: string) => line.endsWith('\\') && /^[bfnrt]/i.test(next)

/**
 * Joins lines that end inside an encoded character or colour code with the following lines, and normalizes them.
 *
 * Returns the normalized texts of these lines only, by line index.
 */
export function normalizeSplit(lines: readonly string[]): Map<number, Normalized> {
  const byLine = new Map<number, Normalized>()
  for (let first = 0; first < lines.length; first++) {
    let last = first
    let end = lines[first]!
    while (last + 1 < lines.length && INCOMPLETE.test(end) && !continues(end, lines[last + 1]!)) {
      last += 1
      end = (end + lines[last]!).slice(-LONGEST_ENCODED)
    }
    if (last === first) continue
    const joined = normalize(lines.slice(first, last + 1).join(''))
    let [offset, unit, line, reached] = [0, 0, first, 0]
    for (let index = first; index <= last; index++) {
      const { length } = lines[index]!
      const normalized: Normalized = { text: '', starts: [], ends: [] }
      if (reached > offset) normalized.rest = { line, end: Math.min(reached - offset, length) }
      for (; unit < joined.text.length && joined.starts[unit]! < offset + length; unit++) {
        normalized.text += joined.text[unit]!
        // The rest of a split character is hidden together with the character after it.
        normalized.starts.push(normalized.rest && normalized.starts.length === 0 ? 0 : joined.starts[unit]! - offset)
        normalized.ends.push(Math.min(joined.ends[unit]! - offset, length))
        reached = joined.ends[unit]!
        line = index
      }
      byLine.set(index, normalized)
      offset += length
    }
    first = last
  }
  return byLine
}

const places = (length: number, first = 0) => Array.from({ length }, (_place, at) => at + first)

function replace(
  normalized: Normalized,
  places: Iterable<RegExpExecArray>,
  change: (found: string) => string,
): Normalized {
  const matches = [...places]
  if (matches.length === 0) return normalized
  const changed: Normalized = { text: '', starts: [], ends: [] }
  let at = 0
  for (const { 0: found, index } of [...matches, { 0: '', index: normalized.text.length }]) {
    changed.text += normalized.text.slice(at, index)
    for (; at < index; at++) {
      changed.starts.push(normalized.starts[at]!)
      changed.ends.push(normalized.ends[at]!)
    }
    at = index + found.length
    const instead = change(found)
    changed.text += instead
    for (let unit = 0; unit < instead.length; unit++) {
      changed.starts.push(normalized.starts[index]!)
      changed.ends.push(normalized.ends[at - 1]!)
    }
  }
  return changed
}

function decode(found: string): string {
  if (/^[%\\]u/i.test(found)) return pointOf(parseInt(found.replace(/^..\{?/, ''), 16))
  if (found.startsWith('%')) return textOfBytes(found.slice(1).split('%'), 16)
  if (found.startsWith('\\x{')) return pointOf(parseInt(found.slice(3), 16))
  if (/^\\x./i.test(found)) return textOfBytes(found.slice(2).split(/\\x/i), 16)
  if (/^\\(?:e|0?33$)/i.test(found)) return '\u001b'
  if (/^\\[0-3]/.test(found)) return textOfBytes(found.slice(1).split('\\'), 8)
  if (found.startsWith('\\')) return /^\\[bfnrt]/i.test(found) ? ' ' : found.slice(1)
  // Between two parts of a word that a shell has quoted in different ways.
  if (found === "'$'") return ''
  const name = found.slice(1).replace(';', '')
  // An unknown entity such as `&uuml;` is read as its first letter, because accents are ignored.
  if (!name.startsWith('#')) return NAMED[name.toLowerCase()] ?? name.slice(0, 1)
  return pointOf(/^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1)))
}

const pointOf = (code: number) => (code <= 0x10ffff ? String.fromCodePoint(code) : '')

/** Decodes bytes as UTF-8, or as Latin-1 if they are not valid UTF-8. */
function textOfBytes(numbers: readonly string[], radix: number): string {
  const bytes = numbers.map((number) => parseInt(number, radix))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes))
  } catch {
    return bytes.map((byte) => fromCharCode(byte)).join('')
  }
}

/** Letters that Unicode does not decompose, as programs write them in names of files and addresses. */
const WITHOUT_STROKE: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
}
const STROKED = /[łøđðħŧæœþ]/g

const IGNORED_ASCII = new Set(',+-_\'"`\\')
/** Fast path of `folded` for ASCII characters. */
const ascii = (character: string) => (character <= ' ' || IGNORED_ASCII.has(character) ? '' : character.toLowerCase())

/** Removes ignored characters and case, character by character. */
function folded({ text, starts, ends }: Normalized): Normalized {
  const result: Normalized = { text: '', starts: [], ends: [] }
  let at = 0
  for (const character of text) {
    const plain =
      character < '\u007f'
        ? ascii(character)
        : // Upper case first: it makes ß equal to SS, and ς to Σ.
          character
            .normalize('NFKD')
            .toUpperCase()
            .toLowerCase()
            .normalize('NFKD')
            .replace(IGNORED, '')
            .replace(STROKED, (letter) => WITHOUT_STROKE[letter]!)
    const end = ends[at + character.length - 1]!
    for (let unit = 0; unit < plain.length; unit++) {
      result.starts.push(starts[at]!)
      result.ends.push(end)
    }
    // An accent is hidden with its letter.
    if (plain === '' && result.ends.length > 0 && ATTACHED.test(character)) result.ends[result.ends.length - 1] = end
    result.text += plain
    at += character.length
  }
  return result
}
