import type { TextEncoding } from '../../../../contract/file'

/** The byte order mark is removed before editing and added again when the text is saved. */
export const BOM = '\uFEFF'

const names: Record<TextEncoding, string> = {
  'utf-8': 'UTF-8',
  'utf-8-bom': 'UTF-8 with BOM',
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE',
  'windows-1252': 'Windows-1252',
}
export const nameOfEncoding = (encoding: TextEncoding | undefined) => names[encoding ?? 'utf-8']

/** All characters of windows-1252 (WHATWG Encoding, index windows-1252). */
// eslint-disable-next-line no-control-regex -- control characters have bytes, too
const WINDOWS_1252 = /^[\x00-\x7f\x81\x8d\x8f\x90\x9d\xa0-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]*$/

/** The platform refuses a text that does not fit its encoding (contract/file.ts); it has to be saved as UTF-8. */
export const canEncode = (text: string, encoding: TextEncoding | undefined) =>
  encoding !== 'windows-1252' || WINDOWS_1252.test(text)
