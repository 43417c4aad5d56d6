import { readdir, symlink } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { useRawConnections } from '../../support/platform/rawConnections'
import { until } from '../../support/platform/until'
import { useUploadRequests, LIMIT, formOf } from '../../support/platform/uploadRequests'

const { platform, ann, share, port, upload, makeDirectory, descriptors, temporaryRecords } = useUploadRequests()
const connect = useRawConnections(platform)

const EVERY_PART_NAMED = 'The form is not valid: every part must have a field name.'

test('a list of names after the files gets 400', async () => {
  const path = await makeDirectory('names-late')
  expect(
    await upload([
      ['path', path],
      ['files', Buffer.from('x'), 'x.txt'],
      ['names', '["y.txt"]'],
    ]),
  ).toMatchObject({ status: 400, body: { message: 'names: must come before the files' } })
})

test('a form with more fields than are read gets 413 that says so', async () => {
  const path = await makeDirectory('many-fields')
  expect(
    await upload([
      ...Array.from({ length: 20 }, (): [string, string] => ['path', path]),
      ['files', Buffer.from('x'), 'a'],
    ]),
  ).toMatchObject({ status: 413, body: { message: expect.stringContaining('too many fields') } })
})

test.each([
  [
    'a file part without a file name',
    '; name="files"',
    'application/octet-stream',
    'files: every file must have a name',
  ],
  ['a file part without a field name', '; filename="x.txt"', 'text/plain', EVERY_PART_NAMED],
  ['a field without a name', '', 'text/plain', EVERY_PART_NAMED],
])('%s gets 400', async (what, disposition, type, message) => {
  const path = await makeDirectory(what.replaceAll(' ', '-'))
  const body = `--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n${path}\r\n--edge\r\nContent-Disposition: form-data${disposition}\r\nContent-Type: ${type}\r\n\r\nx\r\n--edge--\r\n`
  const answer = await fetch(`http://127.0.0.1:${port()}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann().token}`, 'content-type': 'multipart/form-data; boundary=edge' },
    body,
  })
  expect({ status: answer.status, body: (await answer.json()) as object }).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', message },
  })
})

test('an upload into a missing directory or one that leads out is refused and leaves no file', async () => {
  await symlink('/tmp', join(share(), 'out'))
  expect(
    await upload([
      ['path', '/nfsshare/nothing'],
      ['files', Buffer.from('x'), 'a'],
    ]),
  ).toMatchObject({ status: 404 })
  expect(
    await upload([
      ['path', '/nfsshare/out'],
      ['files', Buffer.from('x'), 'a'],
    ]),
  ).toMatchObject({ status: 403 })
  expect(
    await upload([
      ['path', '/nfsshare/../..'],
      ['files', Buffer.from('x'), 'a'],
    ]),
  ).toMatchObject({ status: 400 })
  expect(
    await upload([
      ['files', Buffer.from('x'), 'a'],
      ['path', '/nfsshare/nothing'],
    ]),
  ).toMatchObject({ status: 404 })
  expect(await upload([['files', Buffer.from('x'), 'a']])).toMatchObject({
    status: 400,
    body: { message: 'path: is missing' },
  })
  expect(await upload([['path', '/nfsshare']])).toMatchObject({ status: 400, body: { message: 'files: is missing' } })
  expect(
    await upload([
      ['path', '/nfsshare'],
      ['role', 'admin'],
      ['files', Buffer.from('x'), 'a'],
    ]),
  ).toMatchObject({ status: 400, body: { message: 'role: is not a field of this form' } })
  expect((await readdir(share())).filter((name) => name.endsWith('.part'))).toEqual([])
  expect(await temporaryRecords()).toEqual([])
})

/**
 * Sends the head and 600 bytes of an upload that is refused, and the rest once `isRefused`. Resolves when the
 * connection has closed.
 */
async function sendAfterRefusal({
  length,
  rest,
  header = '',
  next = '',
}: {
  length: number
  rest: Buffer
  header?: string
  next?: string
}): Promise<{ statuses: string[]; error: Error | undefined }> {
  const { body, type } = formOf({ path: '/nfsshare/nothing' }, 'a.bin', Buffer.alloc(1000))
  const socket = connect()
  let received = ''
  let error: Error | undefined
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', (failure) => (error = failure)).on('data', (data) => (received += data.toString()))
  socket.write(
    `POST /api/sftp/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann().token}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${header}\r\n`,
  )
  socket.write(body.subarray(0, 600))
  await until(() => received.includes('"code":"NOT_FOUND"'))
  socket.write(rest)
  if (next) socket.write(next)
  await closed
  return { statuses: received.match(/HTTP\/1.1 \d+/g) ?? [], error }
}

describe('the rest of a refused upload', () => {
  const rest = Buffer.alloc(500_000)
  const length = 600 + rest.length

  test('is discarded, and the connection can be reused', async () => {
    const next = 'GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    expect(await sendAfterRefusal({ length, rest, next })).toEqual({
      statuses: ['HTTP/1.1 404', 'HTTP/1.1 200'],
      error: undefined,
    })
  })

  test('is discarded before the connection is closed when the client sends Connection: close', async () => {
    expect(await sendAfterRefusal({ length, rest, header: 'Connection: close\r\n' })).toEqual({
      statuses: ['HTTP/1.1 404'],
      error: undefined,
    })
  })

  test('is not awaited when it does not arrive', async () => {
    expect(await sendAfterRefusal({ length, rest: Buffer.alloc(0) })).toEqual({
      statuses: ['HTTP/1.1 404'],
      error: undefined,
    })
  })

  test('is discarded for other calls too', async () => {
    const socket = connect()
    let received = ''
    socket.on('data', (data) => (received += data.toString()))
    socket.write(
      'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n{',
    )
    await until(() => received.includes('"code":"TOO_LARGE"'))
    socket.write(Buffer.alloc(1_999_999))
    socket.write('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => received.includes('HTTP/1.1 200'))
  })

  test('is discarded up to a limit only', async () => {
    const read = new Promise<number>((resolve) =>
      platform().app.server.once('connection', (socket: Socket) =>
        socket.once('close', () => resolve(socket.bytesRead)),
      ),
    )
    expect(await sendAfterRefusal({ length: 2 ** 30, rest: Buffer.alloc(64 * 2 ** 20) })).toMatchObject({
      statuses: ['HTTP/1.1 404'],
    })
    expect(await read).toBeLessThan(24 * 2 ** 20)
  })
})

test('decisions §1: a file over the limit gets 413 and leaves no file; one of exactly the limit is accepted', async () => {
  const path = await makeDirectory('limited')
  expect(
    await upload([
      ['path', path],
      ['files', Buffer.alloc(LIMIT), 'exact'],
    ]),
  ).toMatchObject({ status: 201 })
  expect(
    await upload([
      ['path', path],
      ['files', Buffer.alloc(LIMIT + 1), 'more'],
    ]),
  ).toMatchObject({ status: 413, body: { message: 'A file may have at most 1 MiB (QUARTERDECK_UPLOAD_LIMIT).' } })
  expect(await readdir(join(share(), 'limited'))).toEqual(['exact'])
})

test.each([
  ['no boundary', 'multipart/form-data', 'x'],
  ['a boundary that never occurs', 'multipart/form-data; boundary=edge', 'nothing of the kind'],
  ['an end within a header', 'multipart/form-data; boundary=edge', '--edge\r\nContent-Disposition: form-da'],
  [
    'an end within a file',
    'multipart/form-data; boundary=edge',
    '--edge\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nabc',
  ],
  [
    'a part without a name',
    'multipart/form-data; boundary=edge',
    '--edge\r\nContent-Disposition: form-data\r\n\r\nabc\r\n--edge--\r\n',
  ],
  [
    'a file without a name',
    'multipart/form-data; boundary=edge',
    '--edge\r\nContent-Disposition: form-data; name="files"; filename=""\r\n\r\nabc\r\n--edge--\r\n',
  ],
  [
    '__proto__ as a field',
    'multipart/form-data; boundary=edge',
    '--edge\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nabc\r\n--edge--\r\n',
  ],
  ['endless headers', 'multipart/form-data; boundary=edge', `--edge\r\n${'X: y\r\n'.repeat(5000)}`],
  [
    'ten thousand empty parts',
    'multipart/form-data; boundary=edge',
    `${'--edge\r\n\r\n\r\n'.repeat(10_000)}--edge--\r\n`,
  ],
  ['a long boundary', `multipart/form-data; boundary=${'e'.repeat(5000)}`, 'x'],
  ['JSON', 'application/json', '{}'],
  ['a form of another type', 'application/x-www-form-urlencoded', 'path=/nfsshare'],
])('security 22: %s gets a 4xx, and the platform survives', async (_what, type, body) => {
  const answer = await fetch(`http://127.0.0.1:${port()}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann().token}`, 'content-type': type },
    body,
  })
  expect([Math.floor(answer.status / 100), await answer.json()]).toMatchObject([4, { success: false }])
  // Also those of uploads whose client left in the test before.
  await until(async () => (await temporaryRecords()).length === 0)
  expect((await platform().call('GET', '/api/health')).status).toBe(200)
})

test('security 117: files with names that are not UTF-8 get 400, because two of them may be decoded to one name', async () => {
  await makeDirectory('latin')
  const form = formOf({ path: '/nfsshare/latin' }, 'Grün.txt', Buffer.from('one'))
  const answer = await fetch(`http://127.0.0.1:${port()}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann().token}`, 'content-type': form.type },
    body: Buffer.from(form.body.toString(), 'latin1'),
  })
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'INVALID_INPUT', field: 'files' }])
  expect(await readdir(join(share(), 'latin'))).toEqual([])
})

test.each([
  ['without a header', '\r\n'],
  ['that is not a form field', 'Content-Disposition: attachment\r\n'],
  [
    'with too many header lines',
    `${'A: b\r\n'.repeat(100)}Content-Disposition: form-data; name="files"; filename="b"\r\n`,
  ],
])(
  'security 22: a form with a long part %s is answered, or aborted when its client disconnects, and leaves no file',
  async (_what, header) => {
    const path = await makeDirectory(`odd-${header.length}`)
    const field = `--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n${path}\r\n`
    const file = '--edge\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nabc\r\n'
    // The length at which the form parser stalls depends on how the bytes arrive.
    for (const length of [60_000, 100_000]) {
      const body = `${field}${file}--edge\r\n${header}\r\n${'x'.repeat(length)}\r\n--edge--\r\n`
      const send = (options?: RequestInit) =>
        fetch(`http://127.0.0.1:${port()}/api/sftp/upload`, {
          method: 'POST',
          headers: { authorization: `Bearer ${ann().token}`, 'content-type': 'multipart/form-data; boundary=edge' },
          body,
          ...options,
        })
      // A client that is still sending may see the refusal as a closed connection.
      expect([201, 400]).toContain(
        await send().then(
          ({ status }) => status,
          () => 400,
        ),
      )
      const hangUp = new AbortController()
      let isOver = false
      const sent = send({ signal: hangUp.signal })
        .catch(() => undefined)
        .finally(() => (isOver = true))
      await until(async () => isOver || (await temporaryRecords()).length > 0)
      hangUp.abort()
      await sent
      await until(temporaryRecords, (names) => names.length === 0)
      await until(descriptors, (open) => open.length === 0)
    }
  },
  60_000,
)

test('an upload without a session gets 401', async () => {
  expect(
    await upload(
      [
        ['path', '/nfsshare'],
        ['files', Buffer.from('x'), 'a'],
      ],
      'wrong',
    ),
  ).toMatchObject({ status: 401 })
})
