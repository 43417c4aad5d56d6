import { decodedOf, normalizedText } from './normalize'

type Range = [from: number, to: number]

/** Minimum number of different characters of a secret of signs: a line of dashes is none. */
const FEWEST_SIGNS = 3

/** Whether a secret consists of signs that a normalized text lacks, such as dashes and quotes. */
export const isOfSigns = (secret: string) => normalizedText(secret).length < 5 && new Set(secret).size >= FEWEST_SIGNS

/**
 * Returns the ranges of a text that contain secrets of signs: the secret itself, or the whole text if it is encoded.
 */
export const signsIn = (text: string, secrets: readonly string[]): Range[] =>
  secrets.flatMap((secret): Range[] => {
    const ranges: Range[] = []
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
      ranges.push([at, at + secret.length])
    return ranges.length === 0 && decodedOf(text).includes(secret) ? [[0, text.length]] : ranges
  })

/** What a part of a text encodes, depending on where its first letter begins and how its numbers are written. */
type Encoded = { from: number; to: number; texts: () => string[] }

/** Base64, also in a URL (`%2F`) or in JSON (`\/`). */
const BASE64 = /(?:[A-Za-z0-9+/_-]|%2[BbFf]|\\\/){11,}/g
/** Longer runs are other texts: decoding them eight times takes long. */
const BASE32 = /(?<![A-Z2-7])[A-Z2-7]{10,1000}(?![A-Z2-7])|(?<![a-z2-7])[a-z2-7]{10,1000}(?![a-z2-7])/g
const HEX = /[0-9a-f]{12,}/gi
/** A number of a byte, a character or a word of bytes: `104`, `0x68`, `\x68`, `68h`, `U+0068`, `01101000`. */
const NUMBER = /(?<![0-9a-z])(?:0x|u\+|x|u|0b)?([0-9a-f]{1,10})h?(?![0-9a-z])/gi
/** What separates two numbers. */
const BETWEEN = /^[^0-9a-z]{1,12}$/i
const FEWEST_NUMBERS = 5
/** Fewer words have as many bytes. */
const FEWEST_WORDS = 2
const LONG_WORD = 8
const RADIXES: [radix: number, digits: RegExp][] = [
  [16, /^/],
  [10, /^\d+$/],
  [8, /^[0-7]+$/],
  [2, /^[01]{7,8}$/],
]
/** How often an encoding within another one is undone. */
const DEPTH = 2

/** Printable characters of ASCII, also as UTF-16, or of UTF-8. Few other bytes look like that. */
// eslint-disable-next-line no-control-regex -- UTF-16 has zeros
const READABLE = /(?:[\u0000 -~]|[\u00c2-\u00f4][\u0080-\u00bf]{1,3}){6}/
const utf8 = new TextDecoder()
const textOf = (bytes: string) =>
  READABLE.test(bytes) ? [utf8.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))] : []

function base64In(text: string): Encoded[] {
  return Array.from(text.matchAll(BASE64), ({ 0: found, index }) => {
    const digits = found.replace(/%2b|-/gi, '+').replace(/%2f|\\\/|_/gi, '/')
    const texts = () =>
      [0, 1, 2, 3].flatMap((skipped) => {
        // One digit alone encodes no byte.
        const end = (digits.length - skipped) % 4 === 1 ? -1 : undefined
        return textOf(atob(digits.slice(skipped, end)))
      })
    return { from: index, to: index + found.length, texts }
  })
}

/** @param skipped number of bits before the first byte */
function textOfBase32(digits: readonly number[], skipped: number): string[] {
  let bytes = ''
  let bits = 0
  let unread = -skipped
  for (const digit of digits) {
    bits = ((bits << 5) | digit) & 0xfff
    unread += 5
    if (unread >= 8) bytes += String.fromCharCode((bits >> (unread -= 8)) & 0xff)
  }
  return textOf(bytes)
}

function base32In(text: string): Encoded[] {
  return Array.from(text.matchAll(BASE32), ({ 0: found, index }) => {
    const digits = Array.from(found.toUpperCase(), (digit) =>
      digit < 'A' ? Number(digit) + 24 : digit.charCodeAt(0) - 65,
    )
    const texts = () => [0, 1, 2, 3, 4, 5, 6, 7].flatMap((skipped) => textOfBase32(digits, skipped))
    return { from: index, to: index + found.length, texts }
  })
}

function hexIn(text: string): Encoded[] {
  return Array.from(text.matchAll(HEX), ({ 0: found, index }) => {
    const texts = () => [0, 1].flatMap((skipped) => textOfNumbers(found.slice(skipped).match(/../g) ?? [], 16))
    return { from: index, to: index + found.length, texts }
  })
}

function numbersIn(text: string): Encoded[] {
  const runs: { from: number; to: number; numbers: string[] }[] = []
  for (const { 0: found, 1: digits = '', index } of text.matchAll(NUMBER)) {
    const last = runs.at(-1)
    const to = index + found.length
    if (last && index - last.to <= 12 && BETWEEN.test(text.slice(last.to, index))) {
      last.numbers.push(digits)
      last.to = to
    } else runs.push({ from: index, to, numbers: [digits] })
  }
  return runs
    .filter(
      ({ numbers }) =>
        numbers.length >= FEWEST_NUMBERS || numbers.filter(({ length }) => length >= LONG_WORD).length >= FEWEST_WORDS,
    )
    .map(({ from, to, numbers }) => ({
      from,
      to,
      texts: () => RADIXES.flatMap(([radix, digits]) => textOfNumbers(numbers, radix, digits)),
    }))
}

function textOfNumbers(numbers: readonly string[], radix: number, digits = /^/): string[] {
  const codes = numbers.map((number) => (digits.test(number) ? parseInt(number, radix) : 0))
  if (codes.every((code) => code <= 0xff)) return textOf(codes.map((code) => String.fromCharCode(code)).join(''))
  return [codes.map((code) => (code <= 0x10ffff ? String.fromCodePoint(code) : '')).join(''), ...textOfWords(codes)]
}

/** Returns the text of words that begin with the lowest byte, as in the memory of most machines, or the highest one. */
function textOfWords(codes: readonly number[]): string[] {
  const size = codes.some((code) => code > 0xffff) ? 4 : 2
  const bytesOf = (code: number) =>
    Array.from({ length: size }, (_byte, at) => String.fromCharCode((code >>> (8 * at)) & 0xff))
  const words = codes.map(bytesOf)
  return [words, words.map((word) => word.toReversed())].flatMap((ordered) => textOf(ordered.flat().join('')))
}

const ENCODINGS = [base64In, base32In, hexIn, numbersIn]

/**
 * Returns the ranges of a text that encode a secret: Base64, Base32, hexadecimal digits, and numbers of bytes or
 * characters. They are decoded, because the encoding of a secret that is shortened, escaped or in upper case is another
 * one.
 *
 * @param holds returns whether a decoded text contains a secret
 */
export function encodedIn(text: string, holds: (text: string) => boolean): Range[] {
  const known = new Map<string, boolean>()
  const holdsEncoded = (decoded: string, depth: number): boolean =>
    holds(decoded) || (depth < DEPTH && foundIn(decoded, depth + 1).length > 0)
  const foundIn = (inText: string, depth: number) =>
    ENCODINGS.flatMap((encodedBy, kind) =>
      encodedBy(inText).filter(({ from, to, texts }) => {
        const key = `${kind} ${depth} ${inText.slice(from, to)}`
        const found = known.get(key) ?? texts().some((decoded) => holdsEncoded(decoded, depth))
        known.set(key, found)
        return found
      }),
    )
  return foundIn(text, 1).map(({ from, to }) => [from, to])
}

/** The readable parts of a decoded text. */
const DECODED = /[^\p{Cc}\ufffd]{6,}/gu

/** Returns what parts of a text encode, also if it is encoded twice. */
export const decodedTexts = (text: string, depth = 1): string[] =>
  ENCODINGS.flatMap((encodedBy) => encodedBy(text).flatMap(({ texts }) => texts()))
    .flatMap((decoded) => decoded.match(DECODED) ?? [])
    .flatMap((decoded) => [decoded, ...(depth < DEPTH ? decodedTexts(decoded, depth + 1) : [])])

/** Returns for each line the ranges that encode a secret, which may continue on the next line. */
export function encodedInLines(lines: readonly string[], holds: (text: string) => boolean): Range[][] {
  const ranges = encodedIn(lines.join('\n'), holds)
  let next = 0
  const starts = lines.map(({ length }) => (next += length + 1) - length - 1)
  const inLines = lines.map((): Range[] => [])
  for (const [from, to] of ranges) {
    let index = lineAt(starts, from)
    for (; index < lines.length && starts[index]! < to; index++)
      inLines[index]!.push([Math.max(0, from - starts[index]!), Math.min(lines[index]!.length, to - starts[index]!)])
  }
  return inLines
}

/** Returns the index of the line that contains a place. */
function lineAt(starts: readonly number[], place: number): number {
  let [first, last] = [0, starts.length - 1]
  while (first < last) {
    const middle = Math.ceil((first + last) / 2)
    if (starts[middle]! <= place) first = middle
    else last = middle - 1
  }
  return first
}
