/** @jest-environment node */
import type { ChangedLine, Gap } from '../../../../src/web/features/deployments/configuration/changedLines'
import { changedLines } from '../../../../src/web/features/deployments/configuration/changedLines'

const marks = { same: ' ', added: '+', removed: '-' }
const drawn = (lines: (ChangedLine | Gap)[]) =>
  lines.map((line) =>
    line.kind === 'gap'
      ? `… ${line.count}`
      : `${marks[line.kind]}${line.text} ${line.before ?? ''}:${line.after ?? ''}`,
  )
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('')

test('equal texts have no changed lines', () => {
  expect(changedLines('a\nb\n', 'a\nb\n')).toEqual([])
})

test('each line carries its line number before and after the change', () => {
  expect(drawn(changedLines('a\nb\nc\n', 'a\nB\nnew\nc\n'))).toEqual([' a 1:1', '-b 2:', '+B :2', '+new :3', ' c 3:4'])
})

test('a change has three lines of context on either side, and a gap counts the other lines', () => {
  const text = numbers(1, 20)
  expect(drawn(changedLines(text, text.replace('10\n', 'ten\n')))).toEqual([
    '… 6',
    ' 7 7:7',
    ' 8 8:8',
    ' 9 9:9',
    '-10 10:',
    '+ten :10',
    ' 11 11:11',
    ' 12 12:12',
    ' 13 13:13',
    '… 7',
  ])
})

test('a gap between two changes leaves three lines of context to each', () => {
  const text = numbers(1, 12)
  const changed = drawn(changedLines(text, text.replace('1\n', 'one\n').replace('12\n', 'twelve\n')))
  expect(changed).toEqual([
    '-1 1:',
    '+one :1',
    ' 2 2:2',
    ' 3 3:3',
    ' 4 4:4',
    '… 4',
    ' 9 9:9',
    ' 10 10:10',
    ' 11 11:11',
    '-12 12:',
    '+twelve :12',
  ])
})

test('a gap never hides a single line', () => {
  expect(drawn(changedLines('1\n2\n3\n4\nx\n', '1\n2\n3\n4\ny\n'))).toEqual([
    ' 1 1:1',
    ' 2 2:2',
    ' 3 3:3',
    ' 4 4:4',
    '-x 5:',
    '+y :5',
  ])
})

test('an empty line counts as a line, and an empty text has none', () => {
  expect(drawn(changedLines('a\n', 'a\n\n'))).toEqual([' a 1:1', '+ :2'])
  expect(drawn(changedLines('', 'a\n'))).toEqual(['+a :1'])
})
