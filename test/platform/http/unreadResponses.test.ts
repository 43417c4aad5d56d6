import { once } from 'node:events'
import { truncateSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { expectHeldUnder } from '../../support/platform/heldMemory'
import { useRawConnections } from '../../support/platform/rawConnections'
import { usePlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
const connect = useRawConnections(platform)
/** The server's ends of the connections, in the order of the requests. */
const served: Socket[] = []

beforeAll(() => {
  platform().app.server.on('connection', (socket) => served.push(socket))
})
afterEach(async () => {
  await until(() => served.every(({ closed }) => closed))
  served.length = 0
})

/** Sends a request and does not read the response. */
function ask(head: string, body?: Buffer): Socket {
  const client = connect().pause()
  client.write(
    `${head} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann().token}\r\n${body ? 'Content-Type: application/json\r\nContent-Length: 31457280\r\n' : ''}\r\n`,
  )
  if (body) client.write(body)
  return client
}

async function statusOf(client: Socket): Promise<number> {
  await once(client, 'readable')
  return Number(String(client.read(12)).slice(9))
}

test('the memory of unread file contents is limited per user', async () => {
  // JSON escapes each of these characters with six.
  writeFileSync(join(platform().dataDir, 'nfsshare/long.txt'), '\u0001'.repeat(5 * 2 ** 20))
  let waiting: Socket[] = []
  await expectHeldUnder(200 * 2 ** 20, async () => {
    waiting = Array.from({ length: 20 }, () => ask('GET /api/sftp/file/content?path=/nfsshare/long.txt'))
    await until(() => served.length === 20 && served.every(({ bytesWritten }) => bytesWritten > 0))
    const statuses = await Promise.all(waiting.map(statusOf))
    expect(statuses.filter((status) => status === 200)).toHaveLength(4)
    expect(statuses.filter((status) => status === 503)).toHaveLength(16)
  })
  for (const client of waiting) client.destroy()
  await until(
    async () =>
      (await platform().call('GET', '/api/sftp/file/content?path=/nfsshare/long.txt', { token: ann().token }))
        .status === 200,
  )
})

test('the concurrent downloads of a user are limited, and a finished one makes room', async () => {
  writeFileSync(join(platform().dataDir, 'nfsshare/world.bin'), '')
  truncateSync(join(platform().dataDir, 'nfsshare/world.bin'), 64 * 2 ** 20)
  const download = async () => {
    const { body } = await platform().call('POST', '/api/sftp/download-ticket', {
      token: ann().token,
      body: { path: '/nfsshare/world.bin' },
    })
    return ask(`GET /api/sftp/download?path=/nfsshare/world.bin&token=${String(body.data.token)}`)
  }
  const first = await download()
  const statuses = [await statusOf(first)]
  for (let count = 1; count < 33; count++) statuses.push(await statusOf(await download()))
  expect(statuses).toEqual([...Array<number>(32).fill(200), 429])
  first.destroy()
  await until(async () => (await statusOf(await download())) === 200)
})

test('the concurrent request bodies of a user are limited, including incomplete ones', async () => {
  const body = Buffer.alloc(25 * 2 ** 20, ' ')
  await expectHeldUnder(200 * 2 ** 20, async () => {
    for (let count = 0; count < 2; count++) ask('PATCH /api/sftp/file/content', body)
    await until(() => served.length === 2 && served.every(({ bytesRead }) => bytesRead > body.length))
    expect(await statusOf(ask('PATCH /api/sftp/file/content', body))).toBe(503)
  })
})
