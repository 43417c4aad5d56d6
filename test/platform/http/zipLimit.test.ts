import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import Fastify from 'fastify'
import { createResponseBuffers, limitResponses } from '../../../src/platform/http/limits/responseLimits'
import { createZipLimit } from '../../../src/platform/http/limits/zipLimit'
import { useSockets } from '../../support/platform/rawConnections'

const connectTo = useSockets()

test('a client that reads nothing of a zip is disconnected, and its zip no longer counts towards the limit', async () => {
  const app = Fastify()
  const zips = createZipLimit()
  limitResponses(app, createResponseBuffers(), 400)
  app.decorateRequest('user', undefined)
  app.get('/', async (request, reply) => {
    request.user = { userId: 1 } as NonNullable<typeof request.user>
    zips.begin(request, reply)
    return reply.send(Readable.from(endless()))
  })
  const connections = new Set<Socket>()
  app.server.on('connection', (socket) => connections.add(socket))
  await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    // One more than a user may have at a time.
    for (let round = 0; round < 5; round += 1) {
      const silent = connectTo(app)
      silent.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n')
      await once(silent, 'readable')
      expect(String(silent.read(15))).toBe('HTTP/1.1 200 OK')
      const served = [...connections].at(-1)!
      if (!served.closed) await once(served, 'close')
      silent.destroy()
    }
  } finally {
    await app.close()
  }
})

function* endless() {
  for (;;) yield Buffer.alloc(2 ** 16)
}
