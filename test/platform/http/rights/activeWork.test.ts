import { once } from 'node:events'
import { readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { request, type ClientRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Right } from '../../../../src/contract/access'
import type { FileJob } from '../../../../src/contract/file'
import { useGuest } from '../../../support/platform/limitedUsers'
import { until } from '../../../support/platform/until'

const { platform, guest, rights, share } = useGuest(['own', 'other'])

beforeAll(async () => {
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  for (const name of ['own', 'other']) {
    const path = join(share(), name, 'big')
    writeFileSync(path, '')
    truncateSync(path, 64 * 2 ** 30)
  }
})

const grant = (own: Right[], other: Right[]) =>
  rights().setAccess('guest', {
    role: 'limited',
    grants: [
      { deployment: 'own', rights: own },
      { deployment: 'other', rights: other },
    ],
  })

/** Begins a call whose response is not waited for. */
function begin(path: string, type: string, token = guest().token): ClientRequest {
  const { port } = platform().app.server.address() as AddressInfo
  return request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
  }).on('error', () => undefined)
}

const listJobs = async () =>
  (await platform().call('GET', '/api/sftp/jobs', { token: guest().token })).body.data.jobs as FileJob[]
const jobs = async () => (await listJobs()).map(({ paths }) => paths[0]!).sort()
/** The number of unfinished files in a directory. */
const unfinished = (name: string) => readdirSync(join(share(), name)).filter((entry) => entry.endsWith('.part')).length
/** Cancels all jobs on a path. */
const cancel = async (path: string) => {
  for (const { id, paths } of await listJobs())
    if (paths[0] === path) await platform().call('DELETE', `/api/sftp/jobs/${id}`, { token: guest().token })
}

test('a change of rights ends the archive jobs that it no longer allows, and no others', async () => {
  await grant(['files'], ['files'])
  const [, ofOther] = ['own', 'other'].map((name) => {
    const archive = begin('/api/sftp/archive', 'application/json')
    archive.end(JSON.stringify({ path: `/nfsshare/${name}/big` }))
    return once(archive, 'response') as Promise<[{ statusCode: number }]>
  })
  await until(() => ['own', 'other'].every((name) => readdirSync(join(share(), name)).length === 3))
  await grant(['files', 'power'], ['files', 'console'])
  await grant(['files', 'power'], ['console'])
  // The guest does not see this job any more; its end removes its unfinished archive.
  await until(() => readdirSync(join(share(), 'other')).length === 2)
  expect(await jobs()).toEqual(['/nfsshare/own/big'])
  // Not 401, which would end the session in the console.
  expect((await ofOther!)[0].statusCode).toBe(403)
  await grant(['power'], ['console'])
  await until(() => readdirSync(join(share(), 'own')).length === 2)
}, 60_000)

test('security 110: an archive job of a session continues when one for the same path ends with its API key', async () => {
  await grant(['files'], [])
  const key = await rights().createKey(guest(), { scopes: ['read', 'files'] })
  const [ofSession, ofKey] = [guest().token, key].map((token) => {
    const archive = begin('/api/sftp/archive', 'application/json', token)
    archive.end(JSON.stringify({ path: '/nfsshare/own/big' }))
    return once(archive, 'response') as Promise<[{ statusCode: number }]>
  })
  await until(async () => (await jobs()).length === 2)
  const answer = await platform().call('GET', '/api/keys', { token: guest().token })
  const [{ id }] = answer.body.data.keys as [{ id: string }]
  await platform().call('DELETE', `/api/keys/${id}`, { token: guest().token })
  expect((await ofKey!)[0].statusCode).toBe(403)
  expect(await jobs()).toEqual(['/nfsshare/own/big'])
  await cancel('/nfsshare/own/big')
  expect((await ofSession!)[0].statusCode).toBe(409)
}, 60_000)

describe('an archive through a link into a directory of others', () => {
  beforeAll(() => symlinkSync('../other', join(share(), 'own', 'link')))

  const archive = async (path: string) => {
    const call = begin('/api/sftp/archive', 'application/json')
    call.end(JSON.stringify({ path }))
    const [{ statusCode }] = (await once(call, 'response')) as [{ statusCode: number }]
    return statusCode
  }

  test('security 88: ends with the rights for that directory', async () => {
    await grant(['files'], ['files'])
    const [own, other] = [archive('/nfsshare/own/big'), archive('/nfsshare/own/link/big')]
    await until(() => unfinished('own') === 1 && unfinished('other') === 1)
    await grant(['files'], ['console'])
    expect(await other).toBe(403)
    expect(unfinished('other')).toBe(0)
    expect(unfinished('own')).toBe(1)
    await grant(['power'], ['console'])
    expect(await own).toBe(403)
  })

  test('security 88: that is queued is checked against the rights at the time it starts', async () => {
    await grant(['files'], ['files'])
    const before = Array.from({ length: 4 }, () => archive('/nfsshare/own/big'))
    await until(() => unfinished('own') > 0)
    const waiting = archive('/nfsshare/own/link/own.txt')
    await until(async () => (await jobs()).includes('/nfsshare/own/link/own.txt'))
    await grant(['files'], ['console'])
    await cancel('/nfsshare/own/big')
    expect(await waiting).toBe(404)
    for (const job of before) await job
    expect(readdirSync(join(share(), 'other'))).not.toContain('own.txt.tar.gz')
  })
})

test('a change of rights ends the uploads that it no longer allows, and no others', async () => {
  await grant(['files'], ['files'])
  const before = readdirSync(share()).length
  const [toOwn, toOther] = ['own', 'other'].map((name) => {
    const upload = begin('/api/sftp/upload', 'multipart/form-data; boundary=edge')
    upload.write(
      `--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n/nfsshare/${name}\r\n` +
        '--edge\r\nContent-Disposition: form-data; name="files"; filename="new.txt"\r\n\r\nhello',
    )
    return upload
  })
  await until(() => readdirSync(share()).length + unfinished('own') + unfinished('other') >= before + 2)
  await grant(['files', 'power'], ['files', 'console'])
  // Unlike `once`, which fails for a connection that is reset.
  const ended = new Promise((resolve) => toOther!.on('close', resolve))
  await grant(['files'], ['console'])
  await ended
  const answered = once(toOwn!, 'response') as Promise<[{ statusCode: number }]>
  toOwn!.end(' again\r\n--edge--\r\n')
  const [{ statusCode }] = await answered
  expect(statusCode).toBe(201)
  expect(readdirSync(join(share(), 'other'))).not.toContain('new.txt')
})
