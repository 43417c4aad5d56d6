import { withoutEscapes } from '../../../contract/secrets/secretCommands'
import { normalizedText } from './normalize'

/** A recovery or invite code. The server accepts it in any case, with or without dashes and spaces. */
const CODE = /^\s*(?:[a-z2-9]{4}[\s-]*){3,4}$/i
/** A one-time code, possibly typed in groups. */
const DIGITS = /^[\s\d-]+$/

// eslint-disable-next-line no-control-regex -- ASCII
const NOT_ASCII = /[^\u0000-\u007f]/gu
/** Minimum length of a secret without its non-ASCII characters. */
const SHORTEST = 6
/** A secret whose letters and digits are searched alone, too. Longer ones are lines or texts. */
const WORD = /^[^\n]{1,64}$/
/** Colour codes in what players type. */
const COLOURS = /&(?:#[0-9a-f]{6}|[0-9a-fk-orx])/gi

/**
 * Returns the forms of a secret that a program prints if it uses another character set than UTF-8, such as Java
 * without a locale: `GrÃ¼n`, `Gr?n`, `Gr??n`, or with a replacement character, which the search for secrets ignores.
 */
function misreadOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret)
  if (bytes.length === secret.length) return []
  const latin1 = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  const left = secret.replace(NOT_ASCII, '')
  return [
    latin1,
    new TextDecoder('windows-1252').decode(bytes),
    secret.replace(NOT_ASCII, '?'),
    latin1.replace(NOT_ASCII, '?'),
    ...(left.length >= SHORTEST ? [left] : []),
  ]
}

/** A code that is no longer than the numbers of programs, which lose zeros at its start. */
const NUMBER = /^[1-9]\d{5,14}$/

/** Returns a code with separators of thousands, as Java formats the numbers in messages. */
function groupedOf(digits: string): string[] {
  const grouped = NUMBER.test(digits) ? Number(digits).toLocaleString('en-US') : ''
  return grouped === '' ? [] : [grouped, grouped.replaceAll(',', '.')]
}

/**
 * Returns a secret and its other forms: trimmed, composed (NFC), decomposed (NFD), without
 * colour codes, with letters and digits only, and a code without its groups and as a number.
 * Plain text is normalized before the search, but the Base64 and the bytes of each form differ.
 */
export function formsOf(secret: string): string[] {
  const forms = [secret, secret.trim(), secret.trim().normalize('NFC'), secret.trim().normalize('NFD')]
  // A game server removes what looks like a colour code.
  if (secret.includes('§')) forms.push(withoutEscapes(secret), secret.replaceAll('§', ''))
  const plain = secret.replace(COLOURS, '')
  if (plain !== secret && plain.length >= SHORTEST) forms.push(plain)
  // Programs make names of files and labels of typed text: `p@ss/word` becomes `p-ss-word`. The search ignores dashes.
  const left = secret.replace(/[^\p{L}\p{N}]/gu, '')
  if (left.length >= SHORTEST && WORD.test(secret) && normalizedText(left) !== normalizedText(secret)) forms.push(left)
  if (DIGITS.test(secret)) forms.push(secret.replace(/\D/g, ''), ...groupedOf(secret.replace(/\D/g, '')))
  if (CODE.test(secret)) {
    const groups = secret.toUpperCase().match(/[A-Z2-9]{4}/g) ?? []
    forms.push(groups.join(''), groups.join('-'))
  }
  return [...new Set([...forms, ...forms.flatMap(misreadOf)])]
}
