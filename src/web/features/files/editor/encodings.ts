import type { TextEncoding } from '../../../../contract/file'

/** The mark at the front is no part of what is edited, and is put back when it is saved. */
export const BOM = '\uFEFF'

const names: Record<TextEncoding, string> = {
  'utf-8': 'UTF-8',
  'utf-8-bom': 'UTF-8 with BOM',
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE',
  'windows-1252': 'Windows-1252',
}
export const nameOfEncoding = (encoding: TextEncoding | undefined) => names[encoding ?? 'utf-8']

/** What has a byte in windows-1252 (WHATWG Encoding, index windows-1252). */
// eslint-disable-next-line no-control-regex -- control characters have bytes, too
const WINDOWS_1252 = /^[\x00-\x7f\x81\x8d\x8f\x90\x9d\xa0-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]*$/

/** What does not fit has to be saved as UTF-8: the platform refuses it otherwise (contract/file.ts). */
export const fits = (text: string, encoding: TextEncoding | undefined) =>
  encoding !== 'windows-1252' || WINDOWS_1252.test(text)
