import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { readOutput } from '../../src/platform/lineSplitter'

test('security: of a line without end only the beginning is kept, and the lines after it are read', async () => {
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
