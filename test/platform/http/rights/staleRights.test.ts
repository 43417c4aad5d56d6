import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Right } from '../../../../src/contract/access'
import { AppError } from '../../../../src/platform/errors'
import { useGuest } from '../../../support/platform/limitedUsers'
import { until } from '../../../support/platform/until'

const { platform, admin, guest, rights, share } = useGuest(['own', 'other'])

beforeAll(async () => {
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  symlinkSync('../other', join(share(), 'own', 'link'))
})

/** Longer than a call may rely on the rights that it began with. */
const LONG_MS = 1200
/** Of the clock that measures durations, in milliseconds. */
let ahead = 0
let admitted = 0

beforeAll(() => {
  const now = performance.now.bind(performance)
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  const { callers } = platform()
  const { known, authenticate } = callers
  jest.spyOn(callers, 'known').mockImplementation((token) => {
    const caller = known(token)
    if (caller) admitted += 1
    return caller
  })
  jest.spyOn(callers, 'authenticate').mockImplementation(async (...given) => {
    const caller = await authenticate(...given)
    admitted += 1
    return caller
  })
})

/**
 * Begins calls. Once they are admitted, the clock moves on.
 * @param passedMs by default longer than they may rely on the rights that they were admitted with
 */
async function admit<Calls extends unknown[]>(begin: () => Calls, passedMs = LONG_MS): Promise<Calls> {
  const before = admitted
  const calls = begin()
  await until(() => admitted === before + calls.length)
  ahead += passedMs
  return calls
}

const grant = (...other: Right[]) =>
  rights().setAccess('guest', {
    role: 'limited',
    grants: [
      { deployment: 'own', rights: ['files'] },
      { deployment: 'other', rights: other },
    ],
  })

const DEFINITION = "name: other\ntype: process\ndataDirectory: /other\nrun:\n  command: [sleep, '600']\n"

function begin(method: string, path: string, type: string, token: string, length?: number): ClientRequest {
  const { port } = platform().app.server.address() as AddressInfo
  return request({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': type,
      ...(length !== undefined && { 'content-length': length }),
    },
  }).on('error', () => undefined)
}

/** Begins a call whose body lacks its last byte. @returns a function that sends it, and returns the status */
function hold(method: string, path: string, body: object, token = guest().token): () => Promise<number> {
  const text = JSON.stringify(body)
  const call = begin(method, path, 'application/json', token, text.length)
  call.write(text.slice(0, -1))
  return async () => {
    const answered = once(call, 'response') as Promise<[IncomingMessage]>
    call.end(text.slice(-1))
    const [answer] = await answered
    answer.resume()
    return answer.statusCode!
  }
}

test('security 88: a call whose body arrives after the rights for it were revoked is refused', async () => {
  await grant('files', 'configuration', 'power')
  const path = '/nfsshare/other/own.txt'
  const calls = await admit(() => [
    hold('PATCH', '/api/sftp/file/content', { path, content: 'changed' }),
    hold('POST', '/api/sftp/move', { sourcePath: path, targetPath: '/nfsshare/own/moved.txt' }),
    hold('POST', '/api/sftp/archive', { path }),
    hold('PATCH', '/api/deployments/other', { content: `${DEFINITION}description: changed\n` }),
    hold('POST', '/api/deployments/other/toggle', { enabled: true }),
  ])
  await grant('view')
  expect(await Promise.all(calls.map((end) => end()))).toEqual([404, 404, 404, 403, 403])
  expect(readFileSync(join(share(), 'other/own.txt'), 'utf8')).toBe('of other')
  expect(readdirSync(join(share(), 'own')).sort()).toEqual(['link', 'own.txt'])
  expect(readdirSync(join(share(), 'other'))).toEqual(['own.txt'])
  const { body } = await platform().call('GET', '/api/deployments', { token: admin().token })
  expect(body.data.deployments).toContainEqual(expect.objectContaining({ name: 'other', enabled: false }))
})

describe('a stolen session that an administrator ends', () => {
  let stolen: string
  beforeEach(async () => {
    stolen = await platform().signIn(admin())
  })
  const endOtherSessions = async () =>
    expect(await platform().call('DELETE', '/api/sessions', { token: admin().token })).toMatchObject({ status: 200 })

  test('security 88: a call whose body arrives after its session ended is refused', async () => {
    const [end] = await admit(() => [hold('POST', '/api/deployments/other/toggle', { enabled: true }, stolen)])
    await endOtherSessions()
    expect(await end()).toBe(401)
  })

  // Sooner than the rights are checked again: a key outlives the session, so its creation checks the session itself.
  test('security 88: an API key is not created by a call whose session ended before its body arrived', async () => {
    const [end] = await admit(() => [hold('POST', '/api/keys', { name: 'of a thief', scopes: ['admin'] }, stolen)], 0)
    await endOtherSessions()
    expect(await end()).toBe(401)
    expect((await platform().call('GET', '/api/keys', { token: admin().token })).body.data.keys).toEqual([])
  })
})

test('security 88: a queued change of files is checked against the rights at the time it starts', async () => {
  await grant('files')
  const { list } = platform().deployments
  let open = () => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const asked = jest.spyOn(platform().deployments, 'list').mockImplementation(async (...given) => {
    await gate
    return list(...given)
  })
  const call = (path: string) =>
    platform().call('POST', '/api/sftp/file', { token: guest().token, body: { path, content: '' } })
  const before = Array.from({ length: 4 }, (_none, at) => call(`/nfsshare/own/${at}.txt`))
  await until(() => asked.mock.calls.length >= 4)
  const [waiting] = await admit(() => [call('/nfsshare/other/late.txt')])
  await grant('view')
  open()
  for (const { status } of await Promise.all(before)) expect(status).toBe(201)
  expect((await waiting).status).toBe(404)
  asked.mockRestore()
})

describe('a configuration', () => {
  /** Saves as the guest. @param meanwhile happens while texts of others are read */
  const save = async (content: string, meanwhile: () => Promise<unknown>) => {
    const by = await platform().callers.authenticate(guest().token)
    const present = jest.fn(async () => by).mockResolvedValueOnce(by)
    present.mockImplementationOnce(async () => (await meanwhile(), by))
    return platform().deployments.configure(present, 'other', { content })
  }
  const patch = (content: string) =>
    platform().call('PATCH', '/api/deployments/other', { token: admin().token, body: { content } })
  const stored = async () =>
    (await platform().call('GET', '/api/deployments/other', { token: admin().token })).body.data.content

  test('security 88: that is queued is checked against the rights at the time it is saved', async () => {
    await grant('configuration')
    const refusal = new AppError('NOT_ALLOWED', 'of a test')
    await expect(save(`${DEFINITION}description: changed\n`, () => Promise.reject(refusal))).rejects.toBe(refusal)
    expect(await stored()).toBe(DEFINITION)
  })

  test('security 89: does not restore a setting that only operators may change and that one removes during the save', async () => {
    await grant('configuration')
    const withMount = `${DEFINITION}mounts: [/own]\n`
    await patch(withMount)
    await expect(save(withMount, () => patch(DEFINITION))).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await stored()).toBe(DEFINITION)
  })
})

test('security 88: an upload through a link stores nothing in a directory on which its user has lost their rights', async () => {
  await grant('files')
  const upload = begin('POST', '/api/sftp/upload', 'multipart/form-data; boundary=edge', guest().token)
  upload.write(
    '--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n/nfsshare/own/link\r\n' +
      '--edge\r\nContent-Disposition: form-data; name="files"; filename="new.txt"\r\n\r\nhello',
  )
  await until(() => readdirSync(join(share(), 'other')).length === 2)
  const closed = new Promise((resolve) => upload.on('close', resolve))
  await grant('view')
  await closed
  await until(() => readdirSync(join(share(), 'other')).length === 1)
})

describe('downloads in progress', () => {
  beforeAll(() => {
    mkdirSync(join(share(), 'other/big'))
    for (const name of ['one.zip', 'two.zip']) {
      writeFileSync(join(share(), 'other/big', name), '')
      truncateSync(join(share(), 'other/big', name), 2 ** 26)
    }
  })

  /** Begins a download and reads none of it. @returns a function that reads it, and returns whether all of it came */
  async function download(path: string, token: string): Promise<() => Promise<boolean>> {
    const isFile = path.endsWith('.zip')
    let call: ClientRequest
    if (isFile) {
      const { body } = await platform().call('POST', '/api/sftp/download-ticket', { token, body: { path } })
      call = begin('GET', `/api/sftp/download?path=${path}&token=${String(body.data.token)}`, '', token).end()
    } else {
      call = begin('POST', '/api/sftp/download-multiple', 'application/json', token)
      call.end(JSON.stringify({ files: [{ path, name: 'big' }] }))
    }
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(200)
    answer.on('error', () => undefined)
    return async () => {
      const closed = new Promise((resolve) => answer.on('close', resolve))
      answer.resume()
      await closed
      return answer.complete
    }
  }

  test.each([
    '/nfsshare/other/big',
    '/nfsshare/own/link/big',
    '/nfsshare/other/big/one.zip',
    '/nfsshare/own/link/big/one.zip',
  ])('security 88: %s ends with the rights for it', async (path) => {
    await grant('files')
    const readAll = await download(path, guest().token)
    await grant('view')
    expect(await readAll()).toBe(false)
  })

  test('security 88: ends with its API key, and continues when rights are added', async () => {
    await grant('files')
    const key = await rights().createKey(guest(), { scopes: ['files'] })
    const [ended, whole] = [
      await download('/nfsshare/other/big/one.zip', key),
      await download('/nfsshare/other/big/two.zip', guest().token),
    ]
    const { keys } = (await platform().call('GET', '/api/keys', { token: guest().token })).body.data as {
      keys: { id: string }[]
    }
    await platform().call('DELETE', `/api/keys/${keys[0]!.id}`, { token: guest().token })
    await grant('files', 'console')
    expect(await ended()).toBe(false)
    expect(await whole()).toBe(true)
  })
})
