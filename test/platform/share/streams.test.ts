import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { piped, writeStream } from '../../../src/platform/share/streams'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

test.each(['source', 'destination'] as const)(
  'an error of the %s of a pipe destroys both streams, and does not end the process without a reader',
  async (which) => {
    const streams = { source: new PassThrough(), destination: new PassThrough() }
    const output = piped(streams.source, streams.destination)
    expect(output).toBe(streams.destination)
    const closed = Promise.all(
      Object.values(streams).map((stream) => new Promise((resolve) => stream.on('close', resolve))),
    )
    // An error without a listener would fail this test.
    streams[which].destroy(new Error('the disk is gone'))
    await closed
  },
)

test('the reader of a pipe gets the error of its source', async () => {
  const source = new PassThrough()
  const output = piped(source, new PassThrough())
  source.write('beginning')
  const read = async () => {
    for await (const chunk of output) if (String(chunk) === 'beginning') source.destroy(new Error('the disk is gone'))
  }
  await expect(read()).rejects.toThrow('the disk is gone')
})

test('security 148: tiny chunks that arrive during a write are joined, and never written as a long list', async () => {
  const handle = await open(join(directory(), 'tiny'), 'w')
  const writev = jest.spyOn(handle, 'writev')
  const bytes = Buffer.from(Array.from({ length: 50_000 }, (_byte, at) => at % 256))
  const content = new PassThrough({ highWaterMark: bytes.length })
  for (let at = 0; at < bytes.length; at++) content.write(bytes.subarray(at, at + 1))
  content.end()

  await writeStream(content, handle)

  await handle.close()
  expect((await readFile(join(directory(), 'tiny'))).equals(bytes)).toBe(true)
  expect(Math.max(...writev.mock.calls.map(([chunks]) => chunks.length))).toBeLessThanOrEqual(1024)
})
