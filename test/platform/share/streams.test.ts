import { PassThrough } from 'node:stream'
import { piped } from '../../../src/platform/share/streams'

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
