import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { KEPT_LINES } from '../../../../src/platform/runtime/lineRing'
import { ConsoleLog } from '../../../../src/platform/runtime/local/consoleLog'
import { LineSplitter } from '../../../../src/platform/runtime/local/lineSplitter'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

test('decisions §6: the last 10,000 lines are kept, here and for the next one that opens the files', () => {
  const file = join(directory(), 'many.log')
  const log = new ConsoleLog(file)
  for (let number = 1; number <= 3 * KEPT_LINES + 7; number++) {
    log.add('message', `line ${number}`)
    if (number % 100 === 0) log.flush()
  }
  log.flush()
  for (const kept of [log, new ConsoleLog(file)]) {
    const lines = kept.since(1)
    expect(lines).toHaveLength(KEPT_LINES)
    expect(lines[0]).toEqual({ seq: 2 * KEPT_LINES + 8, type: 'message', content: `line ${2 * KEPT_LINES + 8}` })
    expect(lines.at(-1)).toEqual({ seq: 3 * KEPT_LINES + 7, type: 'message', content: `line ${3 * KEPT_LINES + 7}` })
  }
})

test('lines after a number, and at most so many of the newest', () => {
  const log = new ConsoleLog(join(directory(), 'few.log'))
  for (const content of ['a', 'b', 'c', 'd']) log.add('message', content)
  expect(log.since(3).map(({ content }) => content)).toEqual(['c', 'd'])
  expect(log.since(1, 1).map(({ content }) => content)).toEqual(['d'])
  expect(log.since(9)).toEqual([])
})

test('a row that a crash cut short neither swallows the next line nor breaks the numbers', () => {
  const file = join(directory(), 'torn.log')
  const before = new ConsoleLog(file)
  before.add('message', 'with\ta tab')
  before.flush()
  appendFileSync(file, '2\tmess')
  const after = new ConsoleLog(file)
  after.add('error', 'next')
  after.flush()
  expect(new ConsoleLog(file).since(1)).toEqual([
    { seq: 1, type: 'message', content: 'with\ta tab' },
    { seq: 2, type: 'error', content: 'next' },
  ])
})

test('bytes become lines across chunk borders, also within a character', () => {
  const lines: string[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  const bytes = Buffer.from('één\r\ntwo\n\n😀 three')
  for (const byte of bytes) splitter.push(Buffer.from([byte]))
  expect(lines).toEqual(['één', 'two', ''])
  splitter.end()
  expect(lines.at(-1)).toBe('😀 three')
})

test('output without a line end is given out in pieces, so that it does not pile up', () => {
  const lines: string[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  for (let chunk = 0; chunk < 100; chunk++) splitter.push(Buffer.alloc(10_000, 'x'))
  expect(lines.length).toBeGreaterThan(10)
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(80_000)
})
