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

test('the selected text is that of the lines, without colours, cut at both ends, whichever end was first', () => {
  const selection = { anchor: place(0, 4), focus: place(3, 2) }
  expect(selectedText(buffer, selection)).toBe('two\nred\n\nla')
  expect(selectedText(buffer, { anchor: selection.focus, focus: selection.anchor })).toBe('two\nred\n\nla')
  expect(selectedText(buffer, { anchor: place(0, 1), focus: place(0, 3) })).toBe('ne')
  expect(endsOf({ anchor: place(1, 2), focus: place(1, 0) })).toEqual([place(1, 0), place(1, 2)])
})

test('of lines that are gone nothing is left of a selection', () => {
  const later = append(buffer, linesOf(...Array.from({ length: 4998 }, (_, index) => `line ${index}`)))
  expect(later.first).toBe(2)
  expect(selectedText(later, { anchor: place(0, 4), focus: place(4, 4) })).toBe('\nlast\nline')
  expect(selectedText(later, { anchor: place(0, 0), focus: place(1, 3) })).toBe('')
})

test('all lines are from the first character to the last', () => {
  expect(linesBetween(buffer, 0, 3)).toEqual({ anchor: place(0, 0), focus: place(3, 4) })
  expect(selectedText(buffer, linesBetween(buffer, 0, 3))).toBe('one two\nred\n\nlast')
})

test.each([
  [0, 1, 'one'],
  [0, 3, ' '],
  [0, 7, 'two'],
  [1, 2, 'red'],
  [2, 0, ''],
])('the word at line %p, column %p is %j', (line, column, word) => {
  expect(selectedText(buffer, wordAt(buffer, place(line, column)))).toBe(word)
})

test('moving by lines stays within them, and in a shorter line', () => {
  expect(movedBy(buffer, place(0, 6), 1)).toEqual(place(1, 3))
  expect(movedBy(buffer, place(1, 1), -25)).toEqual(place(0, 0))
  expect(movedBy(buffer, place(1, 1), 25)).toEqual(place(3, 4))
})
