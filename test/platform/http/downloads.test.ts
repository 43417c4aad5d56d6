import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, readlink, symlink, truncate, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

let platform: TestPlatform
let ann: Account
let cyd: Account
let share: string
let origin: string

beforeAll(async () => {
  platform = await startPlatform()
  ann = await platform.register('ann')
  cyd = await platform.register('cyd')
  share = join(platform.dataDir, 'nfsshare')
  await platform.app.listen({ port: 0, host: '127.0.0.1' })
  origin = `http://127.0.0.1:${(platform.app.server.address() as AddressInfo).port}`
})
afterAll(() => platform.close())

async function ticketFor(path: string, token = ann.token): Promise<string> {
  return String((await platform.call('POST', '/api/sftp/download-ticket', { token, body: { path } })).body.data.token)
}
const download = (path: string, token: string, headers: Record<string, string> = {}) =>
  fetch(`${origin}/api/sftp/download?path=${encodeURIComponent(path)}&token=${encodeURIComponent(token)}`, { headers })
const zipOf = (files: { path: string; name: string }[]) =>
  fetch(`${origin}/api/sftp/download-multiple`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ files }),
  })

describe('a single file', () => {
  test('§7 is sent unchanged with its length, as an attachment', async () => {
    const content = randomBytes(700_000)
    await writeFile(join(share, 'world.dat'), content)
    const answer = await download('/nfsshare/world.dat', await ticketFor('/nfsshare/world.dat'))
    expect(answer.status).toBe(200)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(content)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-length': '700000',
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename=world.dat',
    })
  })

  test('a ticket requested with a session that ends meanwhile gets 401', async () => {
    const token = await platform.signIn(cyd)
    const user = await platform.callers.authenticate(token)
    const authenticate = jest.spyOn(platform.callers, 'authenticate').mockImplementation(async () => {
      await platform.sessions.end(user.sessionId ?? '')
      return user
    })
    jest.spyOn(platform.callers, 'known').mockReturnValueOnce(undefined)
    const answer = await platform.call('POST', '/api/sftp/download-ticket', { token, body: { path: '/nfsshare/a' } })
    authenticate.mockRestore()
    expect(answer).toMatchObject({ status: 401, body: { code: 'NO_SESSION' } })
  })

  test('an empty file has an empty body', async () => {
    await writeFile(join(share, 'empty'), '')
    const answer = await download('/nfsshare/empty', await ticketFor('/nfsshare/empty'))
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })

  test.each([
    ['bytes=2-4', 206, 'cde', 'bytes 2-4/10'],
    ['bytes=7-', 206, 'hij', 'bytes 7-9/10'],
    ['bytes=-3', 206, 'hij', 'bytes 7-9/10'],
    ['bytes=5-100', 206, 'fghij', 'bytes 5-9/10'],
    ['bytes=4-2', 200, 'abcdefghij', null],
    ['lines=1-2', 200, 'abcdefghij', null],
    ['bytes=0-1,3-4', 200, 'abcdefghij', null],
    ['bytes=10-', 416, expect.stringContaining('"success":false'), 'bytes */10'],
  ])('an interrupted download can be resumed: %s (RFC 9110 §14)', async (range, status, body, contentRange) => {
    await writeFile(join(share, 'letters'), 'abcdefghij')
    const answer = await download('/nfsshare/letters', await ticketFor('/nfsshare/letters'), { range })
    expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
      status,
      body,
      contentRange,
    ])
  })

  test('a resumed download of a changed file starts from the beginning (If-Range, RFC 9110 §13.1.5)', async () => {
    await writeFile(join(share, 'resumed'), 'abcdefghij')
    const get = async (headers: Record<string, string>) =>
      download('/nfsshare/resumed', await ticketFor('/nfsshare/resumed'), headers)
    const lastModified = (await get({})).headers.get('last-modified') ?? ''
    expect(await (await get({ range: 'bytes=5-', 'if-range': lastModified })).text()).toBe('fghij')
    expect(await (await get({ range: 'bytes=5-', 'if-range': 'Mon, 01 Jan 2024 00:00:00 GMT' })).text()).toBe(
      'abcdefghij',
    )
  })

  test('the download of a file that shrinks meanwhile is aborted instead of hanging', async () => {
    await writeFile(join(share, 'shrinking.log'), '')
    await truncate(join(share, 'shrinking.log'), 2 ** 28)
    const answer = await download('/nfsshare/shrinking.log', await ticketFor('/nfsshare/shrinking.log'))
    const reader = answer.body!.getReader()
    await reader.read()
    await truncate(join(share, 'shrinking.log'), 1000)
    const rest = async () => {
      while (!(await reader.read()).done);
    }
    await expect(rest()).rejects.toThrow('terminated')
  })

  test('a HEAD request does not use up the ticket', async () => {
    await writeFile(join(share, 'looked-at'), 'x')
    const token = await ticketFor('/nfsshare/looked-at')
    await fetch(`${origin}/api/sftp/download?path=/nfsshare/looked-at&token=${encodeURIComponent(token)}`, {
      method: 'HEAD',
    })
    expect(await (await download('/nfsshare/looked-at', token)).text()).toBe('x')
  })

  test.each([
    'it\'s "quoted".txt',
    'line\r\nSet-Cookie: a=b.txt',
    '‮gnp.exe',
    '🚀 world.zip',
    'a;b=c.txt',
    'ü%20.txt',
    'back\\slash',
  ])('security 19: the name %j gives one valid header (RFC 6266) and injects no other', async (name) => {
    await writeFile(join(share, name), 'x')
    const path = `/nfsshare/${name}`
    const answer = await download(path, await ticketFor(path))
    expect(await answer.text()).toBe('x')
    const header = answer.headers.get('content-disposition') ?? ''
    expect(header).toMatch(
      /^attachment; filename=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\.)*")(?:; filename\*=UTF-8''[\w!#$&+.^`|~%-]+)?$/,
    )
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test.each(['page.html', 'image.svg'])('security 20: %s is downloaded, never displayed', async (name) => {
    await writeFile(join(share, name), '<script>alert(1)</script>')
    const answer = await download(`/nfsshare/${name}`, await ticketFor(`/nfsshare/${name}`))
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'cache-control': 'no-store',
    })
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/)
  })

  test('directories, missing files and links that lead out are refused', async () => {
    await mkdir(join(share, 'folder'))
    await symlink('/etc/passwd', join(share, 'passwd'))
    for (const [name, status] of [
      ['folder', 409],
      ['nothing', 404],
      ['passwd', 403],
    ] as const) {
      const answer = await download(`/nfsshare/${name}`, await ticketFor(`/nfsshare/${name}`))
      expect([name, answer.status]).toEqual([name, status])
    }
  })
})

describe('security 14: a ticket', () => {
  beforeAll(() => writeFile(join(share, 'ticketed'), 'content'))
  const path = '/nfsshare/ticketed'

  test('is valid for one use, even for ten concurrent ones', async () => {
    const token = await ticketFor(path)
    const answers = await Promise.all(Array.from({ length: 10 }, () => download(path, token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 401)])
    await Promise.all(answers.map((answer) => answer.text()))
  })

  test('is valid for one path', async () => {
    const token = await ticketFor(path)
    expect((await download('/nfsshare/world.dat', token)).status).toBe(401)
    expect((await download(path, token)).status).toBe(401)
  })

  test('is valid for 60 seconds', async () => {
    const [inTime, late] = [await ticketFor(path), await ticketFor(path)]
    platform.clock.now += 59_000
    expect((await download(path, inTime)).status).toBe(200)
    platform.clock.now += 1000
    expect((await download(path, late)).status).toBe(401)
  })

  test('is one of at most 100 that a session has not used: one more ends the oldest', async () => {
    const dan = await platform.register('dan')
    const of = (token: string) => ticketFor(path, token)
    const other = await of(cyd.token)
    const oldest = await of(dan.token)
    platform.clock.now += 1
    const second = await of(dan.token)
    for (let made = 2; made < 101; made++) {
      platform.clock.now += 1
      await of(dan.token)
    }
    expect((await download(path, oldest)).status).toBe(401)
    expect((await download(path, second)).status).toBe(200)
    expect((await download(path, other)).status).toBe(200)
  })

  test('is not a session, and a session token is not a ticket', async () => {
    expect((await download(path, ann.token)).status).toBe(401)
    expect(
      await platform.call('GET', '/api/sftp/files?path=%2Fnfsshare', { token: await ticketFor(path) }),
    ).toMatchObject({ status: 401 })
  })

  test('security 6: expires with the session that requested it', async () => {
    const bob = await platform.register('bob')
    const token = await ticketFor(path, bob.token)
    await platform.call('POST', '/api/auth/logout', { token: bob.token })
    expect((await download(path, token)).status).toBe(401)
  })

  test('is never logged', async () => {
    const token = await ticketFor(path)
    await download(path, token)
    await until(() => platform.logged.some((line) => line.includes('/api/sftp/download"')))
    expect(platform.logged.filter((line) => line.includes(token))).toEqual([])
  })
})

describe('several files', () => {
  const unzipped = async (answer: Response) => {
    const directory = join(platform.dataDir, `unzipped-${Math.random()}`)
    await mkdir(directory)
    await writeFile(join(directory, 'got.zip'), Buffer.from(await answer.arrayBuffer()))
    // Unpacked by another program than ours.
    await promisify(execFile)(process.execPath, [require.resolve('7z-wasm/cli.js'), 'x', '-y', 'got.zip'], {
      cwd: directory,
    })
    return directory
  }

  beforeAll(async () => {
    await mkdir(join(share, 'zipped/deep/empty'), { recursive: true })
    await writeFile(join(share, 'zipped/deep/ü 🚀.txt'), 'deep')
    await writeFile(join(share, 'zipped/nothing'), '')
    await symlink('/etc', join(share, 'zipped/out'))
    await promisify(execFile)('mkfifo', [join(share, 'zipped/pipe')])
    await writeFile(join(share, 'beside.bin'), randomBytes(400_000))
  })

  test('§7 are sent as files.zip with complete directories, without FIFOs and links that lead out', async () => {
    const answer = await zipOf([
      { path: '/nfsshare/zipped', name: 'zipped' },
      { path: '/nfsshare/beside.bin', name: 'beside.bin' },
    ])
    expect([answer.status, answer.headers.get('content-disposition'), answer.headers.get('content-type')]).toEqual([
      200,
      'attachment; filename=files.zip',
      'application/zip',
    ])
    const directory = await unzipped(answer)
    expect((await readdir(directory, { recursive: true })).sort()).toEqual([
      'beside.bin',
      'got.zip',
      'zipped',
      'zipped/deep',
      'zipped/deep/empty',
      'zipped/deep/ü 🚀.txt',
      'zipped/nothing',
    ])
    expect(await readFile(join(directory, 'zipped/deep/ü 🚀.txt'), 'utf8')).toBe('deep')
    expect(await readFile(join(directory, 'beside.bin'))).toEqual(await readFile(join(share, 'beside.bin')))
  })

  test('§7 one directory is sent as {name}.zip, and the root as its entries', async () => {
    expect((await zipOf([{ path: '/nfsshare/zipped', name: 'zipped' }])).headers.get('content-disposition')).toBe(
      'attachment; filename=zipped.zip',
    )
    const directory = await unzipped(await zipOf([{ path: '/nfsshare', name: 'nfsshare' }]))
    expect(await readdir(directory)).toContain('zipped')
  })

  test('a link that stays inside is packed as its target, under the name of the link', async () => {
    await mkdir(join(share, 'links'))
    for (const [name, target] of [
      ['alias', '../zipped/deep'],
      ['again.bin', '../beside.bin'],
      ['all', '.'],
    ] as const)
      await symlink(target, join(share, 'links', name))
    const directory = await unzipped(
      await zipOf(['alias', 'again.bin', 'all'].map((name) => ({ path: `/nfsshare/links/${name}`, name }))),
    )
    expect((await readdir(directory, { recursive: true })).sort()).toEqual([
      'again.bin',
      'alias',
      'alias/empty',
      'alias/ü 🚀.txt',
      'all',
      'got.zip',
    ])
    expect(await readFile(join(directory, 'alias/ü 🚀.txt'), 'utf8')).toBe('deep')
    expect(await readFile(join(directory, 'again.bin'))).toEqual(await readFile(join(share, 'beside.bin')))
  })

  test('a name with a line end gives a valid header', async () => {
    await writeFile(join(share, 'lines'), 'x')
    const answer = await zipOf([{ path: '/nfsshare/lines', name: 'a\r\nX: y' }])
    expect(answer.status).toBe(200)
    expect(answer.headers.has('x')).toBe(false)
    await answer.arrayBuffer()
  })

  test('a missing file gets 404 before anything is sent', async () => {
    const answer = await zipOf([
      { path: '/nfsshare/beside.bin', name: 'beside.bin' },
      { path: '/nfsshare/none', name: 'none' },
    ])
    expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
      404,
      'There is no /nfsshare/none.',
    ])
  })

  test('a selection of ten thousand long paths is accepted, and one more gets 400', async () => {
    const gone = Array.from({ length: 10_000 }, (_, index) => ({
      path: `/nfsshare/${'deep/'.repeat(50)}gone-${index}`,
      name: `gone-${index}`,
    }))
    expect((await zipOf(gone)).status).toBe(404)
    const answer = await zipOf([...gone, ...gone.slice(0, 1)])
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ field: 'files' })])
  })

  /** Requests a zip of one file and reads only its beginning. */
  async function begin(name: string, { token } = ann): Promise<{ sending: ClientRequest; status: number | undefined }> {
    const sending = request(`${origin}/api/sftp/download-multiple`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    sending.on('error', () => undefined).end(JSON.stringify({ files: [{ path: `/nfsshare/${name}`, name }] }))
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    answer.on('error', () => undefined)
    await once(answer, 'readable')
    return { sending, status: answer.statusCode }
  }

  /** The status of a zip of this file, which is read to its end. */
  async function statusOf(name: string): Promise<number> {
    const answer = await zipOf([{ path: `/nfsshare/${name}`, name }])
    await answer.arrayBuffer()
    return answer.status
  }

  test('§1 a user may download four zips at a time; the next gets 429 with Retry-After, and other users are not affected', async () => {
    await promisify(execFile)('truncate', ['-s', '300M', join(share, 'large.jar')])
    const taken = await Promise.all(Array.from({ length: 4 }, () => begin('large.jar')))
    expect(taken.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const refused = await zipOf([{ path: '/nfsshare/beside.bin', name: 'beside.bin' }])
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      429,
      '10',
      {
        code: 'TOO_MANY_TRIES',
        message: '4 of your zip downloads are in progress. Try again when one of them has finished.',
      },
    ])
    const other = await begin('large.jar', cyd)
    expect(other.status).toBe(200)
    for (const { sending } of [...taken, other]) sending.destroy()
    // Aborted, finished and refused downloads all make room, however often.
    for (let round = 0; round < 5; round += 1) {
      await until(async () => (await statusOf('beside.bin')) === 200)
      await until(async () => (await statusOf('none')) === 404)
    }
  })

  /** The number of files of the shared area that this process has open. */
  const open = async () =>
    (
      await Promise.all(
        (await readdir('/proc/self/fd')).map(async (fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      )
    ).filter((path) => path.startsWith(share))

  test('a client that disconnects before anything is sent leaves no file open, for files and zips', async () => {
    await promisify(execFile)('truncate', ['-s', '300M', join(share, 'left.jar')])
    const leave = async (sending: ClientRequest, turns: number) => {
      sending.on('error', () => undefined).end()
      // Disconnects after a different number of turns each time; the server runs in this process too.
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      sending.destroy()
    }
    for (let turns = 0; turns < 60; turns += 2) {
      const token = await ticketFor('/nfsshare/left.jar')
      await leave(
        request(`${origin}/api/sftp/download?path=/nfsshare/left.jar&token=${encodeURIComponent(token)}`),
        turns,
      )
      const several = request(`${origin}/api/sftp/download-multiple`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
      })
      several.write(
        JSON.stringify({ files: Array.from({ length: 20 }, () => ({ path: '/nfsshare/left.jar', name: 'left.jar' })) }),
      )
      await leave(several, turns)
    }
    await until(open, (paths) => paths.length === 0)
    await until(async () => (await statusOf('beside.bin')) === 200)
  })

  test('a client that disconnects half-way leaves no file open', async () => {
    await promisify(execFile)('truncate', ['-s', '300M', join(share, 'huge.jar')])
    const sending = request(`${origin}/api/sftp/download-multiple`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
    })
    sending.end(JSON.stringify({ files: [{ path: '/nfsshare/huge.jar', name: 'huge.jar' }] }))
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    await once(answer, 'data')
    answer.pause()
    expect(await open()).toContain(join(share, 'huge.jar'))
    sending.destroy()
    await until(open, (paths) => paths.length === 0)
  })
})

test.each(['', '&token=', '&token=x'])('a download with the token %p gets 401', async (token) => {
  const { status, body } = await platform.call('GET', `/api/sftp/download?path=/nfsshare/a.txt${token}`)
  expect([status, body.code]).toEqual([401, 'NO_SESSION'])
})
