import { randomBytes } from 'node:crypto'
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { useDownloadRequests } from '../../support/platform/downloadRequests'

const { platform, cyd, share, origin, ticketFor, download } = useDownloadRequests()

describe('a single file', () => {
  test('§7 is sent unchanged with its length, as an attachment', async () => {
    const content = randomBytes(700_000)
    await writeFile(join(share(), 'world.dat'), content)
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
    const token = await platform().signIn(cyd())
    const user = await platform().callers.authenticate(token)
    const authenticate = jest.spyOn(platform().callers, 'authenticate').mockImplementation(async () => {
      await platform().sessions.end(user.sessionId ?? '')
      return user
    })
    jest.spyOn(platform().callers, 'known').mockReturnValueOnce(undefined)
    const answer = await platform().call('POST', '/api/sftp/download-ticket', { token, body: { path: '/nfsshare/a' } })
    authenticate.mockRestore()
    expect(answer).toMatchObject({ status: 401, body: { code: 'NO_SESSION' } })
  })

  test('an empty file has an empty body', async () => {
    await writeFile(join(share(), 'empty'), '')
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
    await writeFile(join(share(), 'letters'), 'abcdefghij')
    const answer = await download('/nfsshare/letters', await ticketFor('/nfsshare/letters'), { range })
    expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
      status,
      body,
      contentRange,
    ])
  })

  test('a resumed download of a changed file starts from the beginning (If-Range, RFC 9110 §13.1.5)', async () => {
    await writeFile(join(share(), 'resumed'), 'abcdefghij')
    const get = async (headers: Record<string, string>) =>
      download('/nfsshare/resumed', await ticketFor('/nfsshare/resumed'), headers)
    const lastModified = (await get({})).headers.get('last-modified') ?? ''
    expect(await (await get({ range: 'bytes=5-', 'if-range': lastModified })).text()).toBe('fghij')
    expect(await (await get({ range: 'bytes=5-', 'if-range': 'Mon, 01 Jan 2024 00:00:00 GMT' })).text()).toBe(
      'abcdefghij',
    )
  })

  test('the download of a file that shrinks meanwhile is aborted instead of hanging', async () => {
    await writeFile(join(share(), 'shrinking.log'), '')
    await truncate(join(share(), 'shrinking.log'), 2 ** 28)
    const answer = await download('/nfsshare/shrinking.log', await ticketFor('/nfsshare/shrinking.log'))
    const reader = answer.body!.getReader()
    await reader.read()
    await truncate(join(share(), 'shrinking.log'), 1000)
    const rest = async () => {
      while (!(await reader.read()).done);
    }
    await expect(rest()).rejects.toThrow('terminated')
  })

  test('a HEAD request does not use up the ticket', async () => {
    await writeFile(join(share(), 'looked-at'), 'x')
    const token = await ticketFor('/nfsshare/looked-at')
    await fetch(`${origin()}/api/sftp/download?path=/nfsshare/looked-at&token=${encodeURIComponent(token)}`, {
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
    await writeFile(join(share(), name), 'x')
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
    await writeFile(join(share(), name), '<script>alert(1)</script>')
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
    await mkdir(join(share(), 'folder'))
    await symlink('/etc/passwd', join(share(), 'passwd'))
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

test.each(['', '&token=', '&token=x'])('a download with the token %p gets 401', async (token) => {
  const { status, body } = await platform().call('GET', `/api/sftp/download?path=/nfsshare/a.txt${token}`)
  expect([status, body.code]).toEqual([401, 'NO_SESSION'])
})
