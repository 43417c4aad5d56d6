/** @jest-environment node */
import ace from 'ace-builds'
import type { LineChange } from '../../../../src/web/features/files/editor/lineEnds'
import { createLineEnds } from '../../../../src/web/features/files/editor/lineEnds'
import { cpuMs } from '../../../support/time/cpuMs'

/** Edits a text in Ace, which drops line endings; `saved()` is the text to save. */
function edited(text: string) {
  const ends = createLineEnds(text)
  const session = ace.createEditSession(text, 'ace/mode/text')
  session.setNewLineMode('unix')
  session.setUndoManager(new ace.UndoManager())
  session.on('change', (change) => ends.changed(change as LineChange))
  return { ends, session, saved: () => ends.join(session.getDocument().getAllLines()) }
}
const { Range } = ace

test.each([
  ['LF', 'a\nb\n'],
  ['CRLF', 'a\r\nb\r\n'],
  ['CR', 'a\rb\r'],
  ['Mixed line ends', 'a\r\nb\nc\rd'],
  ['LF', 'no end at all'],
  ['LF', ''],
  ['LF', '\n'],
  ['Mixed line ends', '\n\r\n\r\r\n\n\n'],
])('%s: untouched lines are saved byte for byte: %j', (kind, text) => {
  const { ends, saved } = edited(text)
  expect(ends.kind).toBe(kind)
  expect(saved()).toBe(text)
})

test('a new line gets the line ending of the line it was split from', () => {
  const { session, saved } = edited('one\r\ntwo\nthree')
  session.insert({ row: 0, column: 1 }, '\n')
  session.insert({ row: 2, column: 3 }, '\nmore')
  expect(saved()).toBe('o\r\nne\r\ntwo\nmore\nthree')
  session.insert({ row: 4, column: 5 }, '\n')
  expect(saved()).toBe('o\r\nne\r\ntwo\nmore\nthree\n')
})

test('pasted lines get the line ending of a text with uniform endings', () => {
  const { session, saved } = edited('a\r\nb\r\n')
  session.insert({ row: 1, column: 0 }, 'x\ny\r\nz\n')
  expect(saved()).toBe('a\r\nx\r\ny\r\nz\r\nb\r\n')
})

test('removing lines removes exactly their line endings', () => {
  const { session, saved } = edited('a\r\nb\nc\r\nd\n')
  session.remove(new Range(1, 0, 2, 0))
  expect(saved()).toBe('a\r\nc\r\nd\n')
  session.remove(new Range(0, 1, 1, 0))
  expect(saved()).toBe('ac\r\nd\n')
})

test('undo and redo restore the original line endings', () => {
  const text = 'a\r\nb\nc\rd\r\n'
  const { session, saved } = edited(text)
  session.remove(new Range(0, 0, 3, 1))
  session.markUndoGroup()
  session.insert({ row: 0, column: 0 }, 'new\nlines')
  session.markUndoGroup()
  const after = saved()
  session.getUndoManager().undo(session)
  session.getUndoManager().undo(session)
  expect(saved()).toBe(text)
  session.getUndoManager().redo(session)
  session.getUndoManager().redo(session)
  expect(saved()).toBe(after)
})

test('200 random edits of a text with mixed line endings keep the endings of untouched lines', () => {
  const original = Array.from({ length: 300 }, (_, index) => `line ${index}${['\n', '\r\n', '\r'][index % 3]}`)
  const { session, saved } = edited(original.join(''))
  let seed = 7
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below
  for (let step = 0; step < 200; step++) {
    const row = random(session.getLength() - 3)
    if (random(2)) session.insert({ row, column: 0 }, `typed ${step}\n`)
    else session.remove(new Range(row, 0, row + 1, 0))
  }
  const kept = saved()
    .match(/[^\r\n]*(\r\n|\n|\r)/g)!
    .filter((line) => line.startsWith('line'))
  expect(kept.length).toBeGreaterThan(100)
  expect(kept.filter((line) => !original.includes(line))).toEqual([])
})

test('editing 100,000 lines stays fast', () => {
  const { session, ends } = edited('line\r\n'.repeat(100_000))
  const ms = cpuMs(() => {
    for (let step = 0; step < 50; step++) session.insert({ row: 50_000, column: 2 }, '\n')
  })
  // Rescanning all lines on every edit would take minutes.
  expect(ms).toBeLessThan(10_000)
  expect(ends.join(session.getDocument().getAllLines())).toHaveLength(600_000 + 100)
})
