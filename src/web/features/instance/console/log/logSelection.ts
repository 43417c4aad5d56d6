import type { LineBuffer } from '../../../../sockets/lineBuffer'
import { allLines, lineAt } from '../../../../sockets/lineBuffer'
import { plainText } from './ansi'
import type { LogSelection, Place } from '../../instanceSlice'

export const isSamePlace = (one: Place, other: Place) => one.line === other.line && one.column === other.column

/** Returns both ends, the earlier one first. */
export function endsOf({ anchor, focus }: LogSelection): [Place, Place] {
  const isForward = anchor.line < focus.line || (anchor.line === focus.line && anchor.column <= focus.column)
  return isForward ? [anchor, focus] : [focus, anchor]
}

/** Returns the selected text of all lines that are still kept, rendered or not. */
export function selectedText(buffer: LineBuffer, selection: LogSelection) {
  const [from, to] = endsOf(selection)
  const texts: string[] = []
  for (let number = Math.max(from.line, buffer.first); number <= Math.min(to.line, buffer.next - 1); number++) {
    const text = textAt(buffer, number)
    texts.push(text.slice(number === from.line ? from.column : 0, number === to.line ? to.column : undefined))
  }
  return texts.join('\n')
}

/** Selects whole lines. */
export const linesBetween = (buffer: LineBuffer, first: number, last: number): LogSelection => ({
  anchor: { line: first, column: 0 },
  focus: { line: last, column: textAt(buffer, last).length },
})

const WORD = /[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]+|\s+/gu

/** Selects the word at a place, or the characters between two words. */
export function wordAt(buffer: LineBuffer, { line, column }: Place): LogSelection {
  const pieces = [...textAt(buffer, line).matchAll(WORD)]
  const piece = pieces.find(({ index, 0: { length } }) => column < index + length) ?? pieces.at(-1)
  const start = piece?.index ?? 0
  return { anchor: { line, column: start }, focus: { line, column: start + (piece?.[0].length ?? 0) } }
}

/** Moves a place by a number of lines. Beyond the first or last line it moves to the start or end of the text. */
export function movedBy(buffer: LineBuffer, { line, column }: Place, lines: number): Place {
  const to = line + lines
  if (to < buffer.first) return { line: buffer.first, column: 0 }
  if (to >= buffer.next) return { line: buffer.next - 1, column: textAt(buffer, buffer.next - 1).length }
  return { line: to, column: Math.min(column, textAt(buffer, to).length) }
}

function textAt(buffer: LineBuffer, number: number) {
  const line = lineAt(buffer, number)
  return line ? plainText(line) : ''
}

/** Returns the lines without colours and control sequences. */
export const textOf = (buffer: LineBuffer) =>
  allLines(buffer)
    .map((line) => `${plainText(line)}\n`)
    .join('')
