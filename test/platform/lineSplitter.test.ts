import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { readOutput } from '../../src/platform/lineSplitter'

test('security: keeps only the beginning of an endless line, and reads the lines after it', async () => {
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
