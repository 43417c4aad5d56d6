import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import pino from 'pino'
import type { Caller } from '../../../src/platform/caller'
import { answerFailures } from '../../../src/platform/http/envelope'
import { uploadRoutes } from '../../../src/platform/http/routes/uploads'
import { createEntryLocks } from '../../../src/platform/share/changes/entryLocks'
import { createJail } from '../../../src/platform/share/jail'
import { openTemporaries } from '../../../src/platform/share/changes/temporaries'
import type { FileCalls } from '../../../src/platform/share/files'
import { createUploads } from '../../../src/platform/share/transfers/uploads'
import { useSockets } from '../../support/platform/rawConnections'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const share = () => join(directory(), 'share')
const PACE = { bytes: 1000, ms: 1200 }
const HEAD =
  '--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n/nfsshare\r\n--edge\r\nContent-Disposition: form-data; name="files"; filename="slow.txt"\r\n\r\n'

const connectTo = useSockets()
let app: FastifyInstance

beforeAll(async () => {
  mkdirSync(share())
  mkdirSync(join(directory(), 'data'))
  const jail = createJail(share())
  const uploads = createUploads(
    jail,
    await openTemporaries(join(directory(), 'data'), jail, createEntryLocks(), pino({ level: 'silent' })),
  )
  app = Fastify()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.decorateRequest('activitySubject', undefined)
  app.addHook('onRequest', async (request) => {
    const caller: Caller = {
      userId: 1,
      username: 'ann',
      sessionId: '1',
      isAdmin: false,
      role: 'operator',
      grants: new Map(),
    }
    request.user = caller
    request.renewUser = async () => caller
  })
  answerFailures(app)
  const files = { upload: () => uploads.begin() } as FileCalls
  const found = { files, reach: undefined, limitTo: () => true }
  const fileAccess = { of: async () => found, follow: async () => found }
  await uploadRoutes(app, { fileAccess, activeWork: { add: () => () => true }, uploadLimit: 2 ** 20 }, PACE)
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())

/** Sends the beginning of an upload. */
function begin(body: string, length: number): { client: Socket; answer: () => string } {
  const client = connectTo(app)
  let answer = ''
  client.on('data', (data) => (answer += data.toString()))
  client.write(
    `POST /api/sftp/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=edge\r\nContent-Length: ${length}\r\n\r\n${body}`,
  )
  return { client, answer: () => answer }
}

test.each([
  ['byte by byte in a file', HEAD, 'x'],
  ['not at all in a file', HEAD, ''],
  ['byte by byte in the header of a part', '--edge\r\nContent-Disposition: form-data; name="', 'x'],
  ['not at all from its beginning', '', ''],
])('an upload that arrives %s gets 408 and leaves no file', async (_case, body, more) => {
  const { client, answer } = begin(body, 100_000)
  const drip = setInterval(() => more !== '' && client.writable && client.write(more), 50)
  await until(answer, Boolean, 20)
  clearInterval(drip)
  expect(answer()).toMatch(/^HTTP\/1\.1 408 /)
  expect(answer()).toContain('"code":"TOO_SLOW"')
  expect(readdirSync(share())).toEqual([])
  expect(readdirSync(join(directory(), 'data/temporaries'))).toEqual([])
})

test('a long upload that is fast enough is stored', async () => {
  const pieces = 40
  const end = '\r\n--edge--\r\n'
  const { client, answer } = begin(HEAD, HEAD.length + pieces * 1000 + end.length)
  for (let sent = 0; sent < pieces; sent++) {
    client.write('x'.repeat(1000))
    await new Promise((resolve) => setTimeout(resolve, PACE.ms / 20))
  }
  client.write(end)
  await until(answer, Boolean, 20)
  expect(answer()).toMatch(/^HTTP\/1\.1 201 /)
  expect(readFileSync(join(share(), 'slow.txt'))).toHaveLength(pieces * 1000)
})
