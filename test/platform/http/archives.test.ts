import { readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { request, type ClientRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FileJob } from '../../../src/contract/file'
import { usePlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')

beforeAll(async () => {
  await platform().app.listen({ port: 0, host: '127.0.0.1' })
  for (const name of ['a', 'b', 'c']) {
    const path = join(platform().dataDir, 'nfsshare', name)
    writeFileSync(path, '')
    truncateSync(path, 64 * 2 ** 30)
  }
})

/** A request whose connection can be dropped, as by closing a browser tab. */
function ask(path: string, { token } = ann()): ClientRequest {
  const { port } = platform().app.server.address() as AddressInfo
  const asked = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/api/sftp/archive',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  asked.on('error', () => undefined).end(JSON.stringify({ path }))
  return asked
}
const jobs = async () =>
  ((await platform().call('GET', '/api/sftp/jobs', { token: ann().token })).body.data as { jobs: FileJob[] }).jobs
const pathsOf = (all: FileJob[]) => all.map(({ paths }) => paths[0]).sort()

test('closing the tab that requested an archive drops a queued job but not a running one', async () => {
  const first = ask('/nfsshare/a')
  await until(async () => (await jobs()).some(({ done }) => done > 0))
  ask('/nfsshare/b')
  await until(async () => (await jobs()).filter(({ done }) => done > 0).length === 2)
  const waiting = ask('/nfsshare/c')
  await until(async () => (await jobs()).length === 3)
  first.destroy()
  waiting.destroy()
  await until(async () => (await jobs()).length === 2)
  const [before] = (await jobs()).filter(({ paths }) => paths[0] === '/nfsshare/a')
  await until(async () => (await jobs()).some(({ id, done }) => id === before!.id && done > before!.done))
  expect(pathsOf(await jobs())).toEqual(['/nfsshare/a', '/nfsshare/b'])
  for (const { id } of await jobs()) await platform().call('DELETE', `/api/sftp/jobs/${id}`, { token: ann().token })
  await until(async () => (await jobs()).length === 0)
}, 60_000)

test('§1 at most twenty archives of a user are queued; the next one gets 429 with Retry-After', async () => {
  for (let count = 0; count < 22; count += 1) ask('/nfsshare/a')
  await until(async () => (await jobs()).length === 22)
  const refused = await platform().call('POST', '/api/sftp/archive', {
    token: ann().token,
    body: { path: '/nfsshare/b' },
  })
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '30' }, body: { code: 'TOO_MANY_TRIES' } })
  for (const { id } of (await jobs()).reverse())
    await platform().call('DELETE', `/api/sftp/jobs/${id}`, { token: ann().token })
  await until(async () => (await jobs()).length === 0)
}, 60_000)

test('§2 deleting a user aborts their archive job, which leaves no file behind', async () => {
  const bob = await platform().register('bob')
  const share = join(platform().dataDir, 'nfsshare')
  const before = readdirSync(share)
  ask('/nfsshare/a', bob)
  await until(() => readdirSync(share).length > before.length)
  const users = (await platform().call('GET', '/api/users', { token: ann().token })).body.data as {
    users: { id: number; username: string }[]
  }
  const { id } = users.users.find(({ username }) => username === 'bob')!
  expect(await platform().call('DELETE', `/api/users/${id}`, { token: ann().token })).toMatchObject({ status: 200 })
  await until(() => readdirSync(share).length === before.length)
  expect(readdirSync(share)).toEqual(before)
}, 60_000)
