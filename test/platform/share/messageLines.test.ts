import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { onLines } from '../../../src/platform/share/archives/messageLines'

test('a line ends at LF only, wherever the bytes are divided; an unterminated line is not emitted', async () => {
  const stream = new PassThrough()
  const lines: string[] = []
  onLines(stream, (line) => void lines.push(line))
  for (const byte of Buffer.from('{"name":"a\u2028b\u2029c\u0085"}\n\nGrüße 🚀\r\nthe last'))
    stream.write(Buffer.of(byte))
  stream.end()
  await once(stream, 'end')
  expect(lines).toEqual(['{"name":"a\u2028b\u2029c\u0085"}', '', 'Grüße 🚀\r'])
})
