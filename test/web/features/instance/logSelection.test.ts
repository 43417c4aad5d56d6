/** @jest-environment node */
import {
  endsOf,
  linesBetween,
  movedBy,
  selectedText,
  wordAt,
} from '../../../../src/web/features/instance/console/log/logSelection'
import { append, emptyBuffer } from '../../../../src/web/sockets/lineBuffer'

const linesOf = (...contents: string[]) => contents.map((content) => ({ type: 'message' as const, content }))
const buffer = append(emptyBuffer, linesOf('one two', '\u001b[31mre\u001b[0md', '', 'last'))
const place = (line: number, column: number) => ({ line, column })

test('selectedText returns plain text cut at both ends, for either selection direction', () => {
  const selection = { anchor: place(0, 4), focus: place(3, 2) }
  expect(selectedText(buffer, selection)).toBe('two\nred\n\nla')
  expect(selectedText(buffer, { anchor: selection.focus, focus: selection.anchor })).toBe('two\nred\n\nla')
  expect(selectedText(buffer, { anchor: place(0, 1), focus: place(0, 3) })).toBe('ne')
  expect(endsOf({ anchor: place(1, 2), focus: place(1, 0) })).toEqual([place(1, 0), place(1, 2)])
})

test('selectedText skips lines that are no longer in the buffer', () => {
  const later = append(buffer, linesOf(...Array.from({ length: 4998 }, (_, index) => `line ${index}`)))
  expect(later.first).toBe(2)
  expect(selectedText(later, { anchor: place(0, 4), focus: place(4, 4) })).toBe('\nlast\nline')
  expect(selectedText(later, { anchor: place(0, 0), focus: place(1, 3) })).toBe('')
})

test('linesBetween selects from the first character to the last', () => {
  expect(linesBetween(buffer, 0, 3)).toEqual({ anchor: place(0, 0), focus: place(3, 4) })
  expect(selectedText(buffer, linesBetween(buffer, 0, 3))).toBe('one two\nred\n\nlast')
})

test.each([
  [0, 1, 'one'],
  [0, 3, ' '],
  [0, 7, 'two'],
  [1, 2, 'red'],
  [2, 0, ''],
])('wordAt line %p, column %p selects %j', (line, column, word) => {
  expect(selectedText(buffer, wordAt(buffer, place(line, column)))).toBe(word)
})

test('movedBy clamps to the first and last line and to the line length', () => {
  expect(movedBy(buffer, place(0, 6), 1)).toEqual(place(1, 3))
  expect(movedBy(buffer, place(1, 1), -25)).toEqual(place(0, 0))
  expect(movedBy(buffer, place(1, 1), 25)).toEqual(place(3, 4))
})
