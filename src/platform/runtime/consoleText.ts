import { StringDecoder } from 'node:string_decoder'

/** The longest line that a console stores, in bytes of UTF-8 (decisions §6). Longer ones are cut, and `…` is added. */
export const LINE_LIMIT = 8192

/** Turns any text into one console line: cuts it at LINE_LIMIT and replaces line ends, NUL and unpaired surrogates. */
export function consoleText(text: string): string {
  return cut(storable(text))
}

function cut(text: string): string {
  // One UTF-16 code unit takes at most three bytes of UTF-8.
  if (text.length * 3 <= LINE_LIMIT || Buffer.byteLength(text) <= LINE_LIMIT) return text
  // StringDecoder holds back a character that the limit splits.
  return `${new StringDecoder('utf8').write(Buffer.from(text).subarray(0, LINE_LIMIT))}…`
}

/** Replaces what a line cannot hold (line ends) and PostgreSQL cannot store (NUL, unpaired surrogates). */
export function storable(text: string): string {
  // Fast path: almost every line is clean, and there are many lines.
  if (!/[\r\n\0\ud800-\udfff]/.test(text)) return text
  return text
    .replaceAll(/[\r\n]/g, ' ')
    .replaceAll('\0', '\u2400')
    .toWellFormed()
}
