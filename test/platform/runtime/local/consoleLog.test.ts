import { appendFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_STORED_BYTES, MAX_STORED_LINES } from '../../../../src/platform/runtime/lineRing'
import { ConsoleLog } from '../../../../src/platform/runtime/local/consoleLog'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, remount, unmount } from '../../../support/platform/tmpfs'

const directory = useTemporaryDirectory()

test('decisions §6: the last 10,000 lines are kept, in memory and in the files', () => {
  const file = join(directory(), 'many.log')
  const log = new ConsoleLog(file)
  for (let number = 1; number <= 3 * MAX_STORED_LINES + 7; number++) {
    log.add('message', `line ${number}`)
    if (number % 100 === 0) log.flush()
  }
  log.flush()
  for (const kept of [log, new ConsoleLog(file)]) {
    const lines = kept.since(1)
    expect(lines).toHaveLength(MAX_STORED_LINES)
    expect(lines[0]).toEqual({
      seq: 2 * MAX_STORED_LINES + 8,
      type: 'message',
      content: `line ${2 * MAX_STORED_LINES + 8}`,
    })
    expect(lines.at(-1)).toEqual({
      seq: 3 * MAX_STORED_LINES + 7,
      type: 'message',
      content: `line ${3 * MAX_STORED_LINES + 7}`,
    })
  }
})

test('decisions §6: the last 4 MiB of long lines are kept, in memory and in the files', () => {
  const file = join(directory(), 'long.log')
  const log = new ConsoleLog(file)
  for (let number = 1; number <= MAX_STORED_LINES; number++) {
    log.add('message', `${number} `.padEnd(8192, number % 2 ? 'x' : 'é'))
    if (number % 100 === 0) log.flush()
  }
  const lines = log.since(1)
  const bytes = lines.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
  expect(bytes).toBeLessThanOrEqual(MAX_STORED_BYTES)
  expect(bytes).toBeGreaterThan(MAX_STORED_BYTES - 10_000)
  expect(lines.at(-1)?.seq).toBe(MAX_STORED_LINES)
  expect(statSync(file).size + statSync(`${file}.1`).size).toBeLessThan(3 * MAX_STORED_BYTES)
  expect(new ConsoleLog(file).since(1)).toEqual(lines)
})

test('only the end of a large file from an earlier version is read, starting at a complete row', () => {
  const file = join(directory(), 'grown.log')
  const row = 'x'.repeat(8000)
  writeFileSync(file, Array.from({ length: 5000 }, (_row, at) => `${at + 1}\tmessage\t${row}\n`).join(''))
  const lines = new ConsoleLog(file).since(1)
  expect(lines.at(-1)).toEqual({ seq: 5000, type: 'message', content: row })
  expect(lines).toHaveLength(Math.floor(MAX_STORED_BYTES / 8000))
})

test('the newest lines after a number are returned, up to a limit', () => {
  const log = new ConsoleLog(join(directory(), 'few.log'))
  for (const content of ['a', 'b', 'c', 'd']) log.add('message', content)
  expect(log.since(3).map(({ content }) => content)).toEqual(['c', 'd'])
  expect(log.since(1, 1).map(({ content }) => content)).toEqual(['d'])
  expect(log.since(9)).toEqual([])
})

test('a row truncated by a crash neither swallows the next line nor breaks the numbers', () => {
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

;(canMount ? test : test.skip)(
  'security 49: rows cut off by a full disk are written once when space is free (skipped without mount rights)',
  () => {
    const disk = join(directory(), 'disk')
    mountTmpfs(disk, '64k')
    try {
      const log = new ConsoleLog(join(disk, 'full.log'))
      log.add('message', 'before')
      log.flush()
      for (let number = 1; number <= 20; number++) log.add('message', `${number} ${'x'.repeat(6000)}`)
      log.flush()
      expect(statSync(join(disk, 'full.log')).size).toBeGreaterThan(6000)
      remount(disk, 'size=1m')
      log.add('message', 'after')
      log.flush()
      const kept = new ConsoleLog(join(disk, 'full.log')).since(1)
      expect(kept).toEqual(log.since(1))
      expect(kept.map(({ seq }) => seq)).toEqual(Array.from({ length: 22 }, (_line, at) => at + 1))
    } finally {
      unmount(disk)
    }
  },
)

test.each([
  ['x'.repeat(8192), 'x'.repeat(8192)],
  ['x'.repeat(8193), `${'x'.repeat(8192)}…`],
  ['漢'.repeat(2731), `${'漢'.repeat(2730)}…`],
  [`x${'😀'.repeat(2048)}`, `x${'😀'.repeat(2047)}…`],
])('decisions §6: a line of more than 8 KiB is truncated between two characters (case %#)', (text, shown) => {
  const log = new ConsoleLog(join(directory(), `cut-${text.length}-${text[0]}`))
  log.add('message', text)
  expect(log.since(1)[0]?.content).toBe(shown)
})
