/** A colour or style (SGR), the only sequence that may reach a terminal. */
// eslint-disable-next-line no-control-regex -- matches control characters
const COLOUR = /(\u001b\[[\d;:]{0,64}m)/
/**
 * Control sequences: CSI; strings such as OSC with their terminator; any other escape. `stripVTControlCharacters` of
 * Node.js takes quadratic time for some lines, which an instance may print. Of a string without terminator only the
 * introducer is removed, so that it cannot hide text.
 */
const SEQUENCE =
  // eslint-disable-next-line no-control-regex -- as above
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]?/g
/**
 * Characters that control a terminal: control characters except the tab, and characters that reverse or break a line.
 */
const CONTROL = /(?!\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
/** The same characters, except those that JSON escapes. */
const CONTROL_IN_JSON = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu

/** Removes everything that controls a terminal from a text of the server or of an instance. */
export function plainText(text: string): string {
  return text.replaceAll(SEQUENCE, '').replaceAll(CONTROL, '')
}

/** As `plainText`, but with the colours of the text. They are reset at its end. */
export function colouredText(text: string): string {
  const pieces = text.split(COLOUR)
  if (pieces.length === 1) return plainText(text)
  return `${pieces.map((piece, at) => (at % 2 === 1 ? piece : plainText(piece))).join('')}\u001b[0m`
}

/** One line of JSON without characters that control a terminal. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    CONTROL_IN_JSON,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}

/** Formats a size, such as `1.5 MiB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, bytes > 0 ? Math.floor(Math.log2(bytes) / 10) : 0)
  return `${power === 0 ? bytes : (bytes / 2 ** (10 * power)).toFixed(1)} ${units[power]}`
}
