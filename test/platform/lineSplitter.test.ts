import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { LineSplitter, readOutput } from '../../src/platform/lineSplitter'

test('security: only the beginning of an endless line is kept, and the lines after it are read', async () => {
  const output = new PassThrough()
  const lengths: number[] = []
  readOutput(output, (line) => void lengths.push(line.length))
  const before = process.memoryUsage().rss
  for (let megabytes = 0; megabytes < 600; megabytes++) {
    output.write(Buffer.alloc(2 ** 20, 'x'))
    await turn()
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20)
  output.end('\nnext\nlast')
  await turn()
  expect(lengths).toHaveLength(3)
  expect(lengths[0]).toBeLessThan(2 ** 21)
  expect(lengths.slice(1)).toEqual(['next'.length, 'last'.length])
})

test('lines are decoded across chunk borders, even within a character', () => {
  const lines: string[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  const bytes = Buffer.from('één\r\ntwo\n\n😀 three')
  for (const byte of bytes) splitter.push(Buffer.from([byte]))
  expect(lines).toEqual(['één', 'two', ''])
  splitter.end()
  expect(lines.at(-1)).toBe('😀 three')
})

test('output without a line end is emitted up to a limit and then discarded, so that memory stays bounded', () => {
  const lines: string[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  for (let chunk = 0; chunk < 100; chunk++) splitter.push(Buffer.alloc(10_000, 'x'))
  expect(lines.map(({ length }) => length)).toEqual([70_000])
  splitter.push(Buffer.from('rest\nnext\nand'))
  expect(lines.slice(1)).toEqual(['next'])
  splitter.end()
  expect(lines.slice(1)).toEqual(['next', 'and'])
  for (let chunk = 0; chunk < 10; chunk++) splitter.push(Buffer.alloc(10_000, 'y'))
  splitter.end()
  expect(lines).toHaveLength(4)
})
