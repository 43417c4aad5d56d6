import { isAscii } from 'node:buffer'
import type { TextEncoding } from '../../contract/file'

/** The largest file in bytes that the editor opens (decisions §3). */
export const TEXT_LIMIT = 5 * 2 ** 20
/** Number of leading bytes that decide `isText`. */
export const TEXT_SAMPLE = 8192

const BOMS: [TextEncoding, Buffer][] = [
  ['utf-8-bom', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
]

/** Control characters that texts do not contain: C0 except tab, line ends, form feed and ESC of coloured logs. */
// eslint-disable-next-line no-control-regex -- matches control characters
const BINARY_CONTROL_CHARACTERS = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/

/** Whether the first bytes of a file, at most TEXT_SAMPLE, look like text in a supported encoding. */
export function looksLikeText(sample: Uint8Array): boolean {
  const bytes = Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength)
  // Fast path without a decoder: most files are ASCII.
  if (isAscii(bytes)) return !BINARY_CONTROL_CHARACTERS.test(bytes.toString('latin1'))
  return !BINARY_CONTROL_CHARACTERS.test(decode(bytes).text)
}

/** A byte order mark decides. Without one: UTF-8 if valid, otherwise Windows-1252, which decodes any byte. */
export function decode(bytes: Buffer): { text: string; encoding: TextEncoding } {
  const [encoding, bom] = BOMS.find(([, mark]) => bytes.subarray(0, mark.length).equals(mark)) ?? []
  if (encoding && bom)
    return {
      encoding,
      text: new TextDecoder(encoding === 'utf-8-bom' ? 'utf-8' : encoding).decode(bytes.subarray(bom.length)),
    }
  try {
    // A sample may end inside a multi-byte character; `stream` accepts that.
    return {
      encoding: 'utf-8',
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
        stream: bytes.length === TEXT_SAMPLE,
      }),
    }
  } catch {
    return {
      encoding: 'windows-1252',
      text: bytes.toString('latin1').replace(/[\u0080-\u009f]/g, (character) => WINDOWS_1252[character.charCodeAt(0)]!),
    }
  }
}

/** Windows-1252 is Latin-1 except for 0x80 to 0x9F (WHATWG Encoding §9). TextDecoder of Node.js 20 gets it wrong. */
const C1 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'
const WINDOWS_1252 = Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x80 && byte <= 0x9f ? C1[byte - 0x80]! : String.fromCharCode(byte),
)
const BYTES_OF_WINDOWS_1252 = new Map(WINDOWS_1252.map((character, byte) => [character, byte]))

/** Returns the encoded bytes with their byte order mark; undefined when the encoding cannot represent a character. */
export function encode(text: string, encoding: TextEncoding): Buffer | undefined {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text, 'utf8')
    case 'utf-8-bom':
      return Buffer.concat([BOMS[0]![1], Buffer.from(text, 'utf8')])
    case 'utf-16le':
      return Buffer.concat([BOMS[1]![1], Buffer.from(text, 'utf16le')])
    case 'utf-16be':
      return Buffer.concat([BOMS[2]![1], Buffer.from(text, 'utf16le').swap16()])
    case 'windows-1252': {
      const bytes = Buffer.alloc(text.length)
      for (let at = 0; at < text.length; at += 1) {
        const byte = BYTES_OF_WINDOWS_1252.get(text[at]!)
        if (byte === undefined) return undefined
        bytes[at] = byte
      }
      return bytes
    }
  }
}
