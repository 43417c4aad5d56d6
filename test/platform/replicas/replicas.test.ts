import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import type { Socket as NetSocket } from 'node:net'
import { join } from 'node:path'
import { io, type Socket } from 'socket.io-client'
import { WebSocket } from 'ws'
import type { Right } from '../../../src/contract/access'
import { CLOSE_RIGHTS_CHANGED, CLOSE_SESSION_ENDED } from '../../../src/contract/pageRules'
import { findLastHeartbeat } from '../../../src/platform/state/deployments/heartbeats'
import { awakeMs } from '../../support/time/awakeMs'
import type { Account, TestPlatform } from '../../support/platform/startPlatform'
import { startReplicas, type TestReplicas } from '../../support/platform/startReplicas'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
let replicas: TestReplicas
let one: TestPlatform
let two: TestPlatform
let urls: Map<TestPlatform, string>
let ann: Account
const sockets: (Socket | WebSocket)[] = []

beforeAll(async () => {
  replicas = await startReplicas(directory(), { sample: true })
  ;({ one, two } = replicas)
  urls = new Map(
    await Promise.all([one, two].map(async (platform) => [platform, await platform.app.listen({ port: 0 })] as const)),
  )
  ann = await one.register('ann')
})
afterAll(async () => {
  for (const socket of sockets) socket.close()
  await replicas.close()
})

const headersOf = (platform: TestPlatform, token: string) => ({ origin: urls.get(platform)!, cookie: `token=${token}` })

async function openRealtime(platform: TestPlatform, token: string): Promise<Socket> {
  const socket = io(urls.get(platform), {
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    extraHeaders: headersOf(platform, token),
  })
  sockets.push(socket)
  await until(() => socket.connected)
  return socket
}

async function openConsole(platform: TestPlatform, token: string): Promise<WebSocket> {
  const instances = await until(
    async () => (await platform.call('GET', '/api/deployments/sample/instances', { token })).body.data.instances,
    (all) => (all as unknown[]).length > 0,
  )
  const [{ podName }] = instances as [{ podName: string }]
  const viewer = new WebSocket(`${urls.get(platform)!.replace('http', 'ws')}/api/logs/sample/${podName}`, {
    headers: headersOf(platform, token),
  })
  sockets.push(viewer)
  await once(viewer, 'open')
  return viewer
}

const idOf = async (username: string) =>
  (await one.db.selectFrom('users').select('id').where('username', '=', username).executeTakeFirstOrThrow()).id

/** @returns milliseconds from the call of `act` to the event */
const timeOf = (event: Promise<unknown>, act: () => Promise<unknown>) => awakeMs(() => Promise.all([event, act()]))

test('two replicas that start at once on an empty state create everything once', async () => {
  const rows = await one.db.selectFrom('invites').selectAll().execute()
  expect(rows.filter(({ is_first, revoked }) => is_first && !revoked)).toHaveLength(1)
  expect((await one.db.selectFrom('deployments').select('name').execute()).map(({ name }) => name)).toEqual(['sample'])
  await until(
    () => replicas.runtime.list(),
    (all) => all.some(({ state }) => state === 'RUNNING'),
  )
  expect(await replicas.runtime.list()).toHaveLength(1)
})

test('a replica without the key file, or with another one, does not start and prints one line with a remedy', async () => {
  await expect(replicas.start('keyless', '')).rejects.toMatchObject({
    lines: [expect.stringMatching(/every replica needs the same one\. Create it once \(openssl rand -hex 32\)/)],
  })
  await expect(replicas.start('strange', randomBytes(32).toString('hex'))).rejects.toMatchObject({
    lines: [expect.stringContaining('is not the one that this state was written with')],
  })
})

test('a sign-in may begin at one replica and end at another, and its session counts on both', async () => {
  const { username, password } = ann
  const begun = await one.call('POST', '/api/auth/login', { body: { username, password } })
  const token = await one.nextCode(ann.secret)
  two.clock.now = one.clock.now
  const ended = await two.call('POST', '/api/auth/verify-login', {
    body: { username, token, sessionToken: begun.body.data.sessionToken },
  })
  expect(ended.status).toBe(200)
  const session = String(ended.body.data.token)
  for (const platform of [one, two])
    expect((await platform.call('GET', '/api/deployments', { token: session })).status).toBe(200)
})

test('wrong passwords at two replicas count together', async () => {
  const answers = []
  for (let count = 0; count < 12; count++)
    answers.push(
      await [one, two][count % 2]!.call('POST', '/api/auth/login', {
        body: { username: 'nobody', password: 'wrong password' },
        address: '203.0.113.7',
      }),
    )
  expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(400), 429, 429])
})

test('a download ticket of one replica counts at the other, once', async () => {
  writeFileSync(join(replicas.shareDir, 'file.txt'), 'content')
  const ticket = await one.call('POST', '/api/sftp/download-ticket', {
    token: ann.token,
    body: { path: '/nfsshare/file.txt' },
  })
  const url = `/api/sftp/download?path=%2Fnfsshare%2Ffile.txt&token=${String(ticket.body.data.token)}`
  expect((await two.app.inject(url)).body).toBe('content')
  expect((await one.app.inject(url)).statusCode).toBe(401)
})

describe('decisions §2: access that is revoked at one replica is refused at the other from the next call on:', () => {
  /** @returns the status at replica two right after the change at replica one, of a caller in use at both */
  async function statusAfter(token: string, path: string, change: () => Promise<{ status: number }>): Promise<number> {
    for (const platform of [one, two]) expect((await platform.call('GET', path, { token })).status).toBe(200)
    expect((await change()).status).toBeLessThan(300)
    return (await two.call('GET', path, { token })).status
  }

  test('security 92: a session that is signed out', async () => {
    const token = await one.signIn(ann)
    expect(await statusAfter(token, '/api/network/nodes', () => one.call('POST', '/api/auth/logout', { token }))).toBe(
      401,
    )
  })

  test('security 92: the role of an administrator, and the account', async () => {
    const cyd = await one.register('cyd')
    const id = await idOf('cyd')
    const setAdmin = (isAdmin: boolean) =>
      one.call('PATCH', `/api/users/${id}/admin`, { token: ann.token, body: { is_admin: isAdmin } })
    await setAdmin(true)
    expect(await statusAfter(cyd.token, '/api/users', () => setAdmin(false))).toBe(403)
    expect(
      await statusAfter(cyd.token, '/api/network/nodes', () =>
        one.call('DELETE', `/api/users/${id}`, { token: ann.token }),
      ),
    ).toBe(401)
  })

  test('security 92: an API key', async () => {
    const made = await one.call('POST', '/api/keys', { token: ann.token, body: { name: 'ci', scopes: ['read'] } })
    const { key, info } = made.body.data as { key: string; info: { id: string } }
    expect(
      await statusAfter(key, '/api/network/nodes', () =>
        one.call('DELETE', `/api/keys/${info.id}`, { token: ann.token }),
      ),
    ).toBe(401)
  })

  test('security 92: grants on a deployment that is deleted, when another one is created with its name', async () => {
    const make = () =>
      one.call('POST', '/api/deployments', { token: ann.token, body: { name: 'reused', type: 'process' } })
    await make()
    const dan = await one.register('dan')
    const id = await idOf('dan')
    await one.call('PUT', `/api/users/${id}/access`, {
      token: ann.token,
      body: { role: 'limited', grants: [{ deployment: 'reused', rights: ['view'] }] },
    })
    expect(
      await statusAfter(dan.token, '/api/deployments/reused/instances', async () => {
        await one.call('DELETE', '/api/deployments/reused', { token: ann.token })
        return make()
      }),
    ).toBe(404)
  })

  describe('security 92: a changed grant', () => {
    let gil: Account
    let url: string
    const grant = (...rights: Right[]) =>
      one.call('PUT', url, { token: ann.token, body: { role: 'limited', grants: [{ deployment: 'granted', rights }] } })

    beforeAll(async () => {
      await one.call('POST', '/api/deployments', { token: ann.token, body: { name: 'granted', type: 'process' } })
      mkdirSync(join(replicas.shareDir, 'granted'), { recursive: true })
      writeFileSync(join(replicas.shareDir, 'granted/large.zip'), '')
      truncateSync(join(replicas.shareDir, 'granted/large.zip'), 2 ** 26)
      gil = await one.register('gil')
      const id = await idOf('gil')
      url = `/api/users/${id}/access`
    })

    test.each([
      ['the right', '/api/deployments/granted', 403],
      ['the deployment', '/api/deployments/granted/instances', 404],
    ])('without %s applies, and so does one that adds it again', async (what, path, status) => {
      await grant('view', 'configuration')
      const reduced = () =>
        what === 'the right'
          ? grant('view')
          : one.call('PUT', url, { token: ann.token, body: { role: 'limited', grants: [] } })
      expect(await statusAfter(gil.token, path, reduced)).toBe(status)
      expect((await grant('view', 'configuration')).status).toBe(200)
      expect((await two.call('GET', path, { token: gil.token })).status).toBe(200)
    })

    test('ends a download in progress', async () => {
      await grant('view', 'files')
      const path = '/nfsshare/granted/large.zip'
      const { body } = await two.call('POST', '/api/sftp/download-ticket', { token: gil.token, body: { path } })
      const connected = once(two.app.server, 'connection') as Promise<[NetSocket]>
      const call = request(`${urls.get(two)!}/api/sftp/download?path=${path}&token=${String(body.data.token)}`, {
        agent: false,
        headers: { authorization: `Bearer ${gil.token}` },
      }).end()
      const [[connection], [answer]] = await Promise.all([
        connected,
        once(call, 'response') as Promise<[IncomingMessage]>,
      ])
      expect(answer.statusCode).toBe(200)
      const ended = new Promise((resolve) => answer.on('error', () => undefined).on('close', resolve))
      // Nothing is read before, so the download does not end by itself.
      await Promise.all([once(connection, 'close'), grant('view')])
      answer.resume()
      await ended
      expect(answer.complete).toBe(false)
    })
  })
})

test('§15 a session that ends at one replica closes its sockets at the other within a second', async () => {
  const token = await one.signIn(ann)
  const [realtime, viewer] = [await openRealtime(two, token), await openConsole(two, token)]
  let code: number | undefined
  viewer.on('close', (given) => (code = given))
  const closed = Promise.all([new Promise((resolve) => realtime.once('disconnect', resolve)), once(viewer, 'close')])
  const ms = await timeOf(closed, () => one.call('POST', '/api/auth/logout', { token }))
  expect(code).toBe(CLOSE_SESSION_ENDED)
  expect(ms).toBeLessThan(1000)
})

test('§15 changed rights close the sockets at the other replica within a second', async () => {
  const bob = await one.register('bob')
  const viewer = await openConsole(two, bob.token)
  let code: number | undefined
  viewer.on('close', (given) => (code = given))
  const id = await idOf('bob')
  const ms = await timeOf(once(viewer, 'close'), () =>
    one.call('PATCH', `/api/users/${id}/admin`, { token: ann.token, body: { is_admin: true } }),
  )
  expect(code).toBe(CLOSE_RIGHTS_CHANGED)
  expect(ms).toBeLessThan(1000)
})

test('§15 a call to any replica makes the manager act within a second, and every instance starts once', async () => {
  for (const [index, platform] of [one, two].entries()) {
    const name = `bot-${index}`
    await platform.call('POST', '/api/deployments', { token: ann.token, body: { name, type: 'process' } })
    const content = `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun:\n  command: ["node", "-e", "setInterval(() => {}, 1000)"]\n`
    await platform.call('PATCH', `/api/deployments/${name}`, { token: ann.token, body: { content } })
    const started = until(async () => (await replicas.runtime.list()).some(({ podName }) => podName.startsWith(name)))
    const ms = await timeOf(started, () =>
      platform.call('POST', `/api/deployments/${name}/toggle`, { token: ann.token, body: { enabled: true } }),
    )
    expect(ms).toBeLessThan(1000)
  }
  expect((await replicas.runtime.list()).filter(({ podName }) => podName.startsWith('bot-'))).toHaveLength(2)
})

test('of two saves at two replicas at once one is refused, and no record of an unfinished file is left', async () => {
  const path = '/nfsshare/shared.txt'
  writeFileSync(join(replicas.shareDir, 'shared.txt'), 'before')
  for (let round = 0; round < 20; round++) {
    const { modifyTime } = (
      await one.call('GET', `/api/sftp/file/content?path=${encodeURIComponent(path)}`, { token: ann.token })
    ).body.data
    // A save within the same millisecond would leave the modification time, which both saves send, unchanged.
    await new Promise((resolve) => setTimeout(resolve, 5))
    const answers = await Promise.all(
      [one, two].map((platform) =>
        platform.call('PATCH', '/api/sftp/file/content', {
          token: ann.token,
          body: { path, modifyTime, content: `${round} of ${platform.dataDir}` },
        }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  }
  expect(await one.db.selectFrom('temporaries').selectAll().execute()).toEqual([])
})

test('a user who is deleted at one replica does not finish an upload at the other', async () => {
  const eve = await one.register('eve')
  const upload = request(`${urls.get(two)!}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${eve.token}`, 'content-type': 'multipart/form-data; boundary=x' },
  })
  const ended = new Promise((resolve) => upload.on('error', resolve).on('response', resolve))
  const part = (name: string) => `--x\r\nContent-Disposition: form-data; name="${name}"`
  upload.write(`${part('path')}\r\n\r\n/nfsshare\r\n${part('files')}; filename="evil.txt"\r\n\r\nhalf`)
  await until(async () => (await one.db.selectFrom('temporaries').selectAll().execute()).length === 1)
  const id = await idOf('eve')
  const ms = await timeOf(ended, () => one.call('DELETE', `/api/users/${id}`, { token: ann.token }))
  expect(ms).toBeLessThan(1000)
  await until(async () => (await one.db.selectFrom('temporaries').selectAll().execute()).length === 0)
  expect(readdirSync(replicas.shareDir).filter((name) => name.startsWith('evil') || name.endsWith('.part'))).toEqual([])
})

test('§15 long-polling is refused, because its next request might reach another replica', async () => {
  for (const platform of [one, two]) {
    const path = `${urls.get(platform)!}/socket.io/?EIO=4&transport=polling`
    expect((await fetch(path, { headers: headersOf(platform, ann.token) })).status).toBe(400)
  }
})

test('§15 every replica reports the sync of the shared area', async () => {
  const heard = new Map<TestPlatform, unknown[]>()
  for (const platform of [one, two]) {
    const messages: unknown[] = []
    heard.set(platform, messages)
    const socket = await openRealtime(platform, ann.token)
    socket.on('message', ({ id, data }: { id: string; data: unknown }) => {
      if (id === 'CLIENT_FILE_SYNC') messages.push(data)
    })
  }
  await one.call('POST', '/api/deployments', { token: ann.token, body: { name: 'lobby', type: 'scalable' } })
  await until(() => [...heard.values()].every((messages) => messages.length >= 2))
  for (const messages of heard.values())
    expect(messages.slice(-2)).toEqual([{ event: 'sync_started' }, { event: 'sync_completed' }])
})

test('a sample deployment that was deleted is not created again by the next replica', async () => {
  expect((await two.call('DELETE', '/api/deployments/sample', { token: ann.token })).status).toBe(200)
  const third = await replicas.start('third')
  expect(await one.db.selectFrom('deployments').selectAll().where('name', '=', 'sample').execute()).toEqual([])
  await third.close()
})

test('§15 when a replica ends, the others continue, and one of them becomes the manager', async () => {
  void one.ending.begin()
  expect((await one.call('GET', '/api/health')).status).toBe(503)
  expect((await one.call('GET', '/api/health/live')).status).toBe(200)
  expect((await two.call('GET', '/api/health')).status).toBe(200)
  const before = (await replicas.runtime.list()).map(({ runId }) => runId)
  await one.close()
  const since = await findLastHeartbeat(two.db)
  await until(
    () => findLastHeartbeat(two.db),
    (beat) => beat > since,
    15,
  )
  expect((await replicas.runtime.list()).map(({ runId }) => runId)).toEqual(before)
})
