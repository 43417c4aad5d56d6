import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

let platform: TestPlatform
let ann: Account
let share: string
let port: number

const LIMIT = 2 ** 20

beforeAll(async () => {
  platform = await startPlatform({ uploadLimit: LIMIT })
  ann = await platform.register('ann')
  share = join(platform.dataDir, 'nfsshare')
  await platform.app.listen({ port: 0, host: '127.0.0.1' })
  port = (platform.app.server.address() as AddressInfo).port
})
afterAll(() => platform.close())

type Part = [field: string, value: string] | [field: 'files', content: Buffer, name: string]

async function upload(
  parts: Part[],
  token = ann.token,
): Promise<{
  status: number
  body: { code?: string; message?: string; data?: { files: { name: string; path: string }[] } }
}> {
  const form = new FormData()
  for (const [field, value, name] of parts) {
    if (typeof value === 'string') form.append(field, value)
    else form.append(field, new Blob([new Uint8Array(value)]), name)
  }
  const answer = await fetch(`http://127.0.0.1:${port}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
  return { status: answer.status, body: (await answer.json()) as Awaited<ReturnType<typeof upload>>['body'] }
}

/** A form as bytes, for clients that do not send all of it. */
function formOf(fields: Record<string, string>, name: string, content: Buffer): { body: Buffer; type: string } {
  const head = Object.entries(fields).map(
    ([field, value]) => `--edge\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  )
  const file = `--edge\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  return {
    body: Buffer.concat([Buffer.from(head.join('') + file), content, Buffer.from('\r\n--edge--\r\n')]),
    type: 'multipart/form-data; boundary=edge',
  }
}

async function makeDirectory(name: string, files: Record<string, string> = {}): Promise<string> {
  await mkdir(join(share, name))
  for (const [file, content] of Object.entries(files)) await writeFile(join(share, name, file), content)
  return `/nfsshare/${name}`
}

/** The descriptors of this process on files of the shared area. */
const descriptors = async () =>
  (
    await Promise.all(
      (await readdir('/proc/self/fd')).map(async (fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    )
  ).filter((path) => path.startsWith(share))
const notes = () => readdir(join(platform.dataDir, 'temporaries'))

test('prefers the names of their own field to those of the parts, which browsers percent-encode', async () => {
  const path = await makeDirectory('named')
  const names = ['a"b.txt', '100%22.txt']
  const { status } = await upload([
    ['path', path],
    ['names', JSON.stringify(names)],
    ['files', Buffer.from('one'), names[0]!],
    ['files', Buffer.from('two'), names[1]!],
  ])
  expect(status).toBe(201)
  expect((await readdir(join(share, 'named'))).sort()).toEqual(names.toSorted())
  expect(await readFile(join(share, 'named', 'a"b.txt'), 'utf8')).toBe('one')
})

test.each<[string, string, string]>([
  ['is not JSON', 'a.txt', 'names: must be a JSON list of names'],
  ['is not a list of strings', '[1]', 'names: must be a JSON list of names'],
  ['is shorter than the files', '[]', 'names: is shorter than the list of files'],
  ['is longer than the files', '["a.txt","b.txt"]', 'names: is longer than the list of files'],
  ['holds a path', '["../a.txt"]', 'files: "../a.txt" is not a valid file name'],
])('a list of names that %s gets 400, and nothing is stored', async (_case, names, message) => {
  const path = await makeDirectory(`names-${randomBytes(4).toString('hex')}`)
  const answer = await upload([
    ['path', path],
    ['names', names],
    ['files', Buffer.from('x'), 'x.txt'],
  ])
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', message: expect.stringContaining(message) as string },
  })
  expect(await readdir(join(share, path.slice('/nfsshare/'.length)))).toEqual([])
})

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

test('a file part without a file name gets 400', async () => {
  const path = await makeDirectory('nameless')
  const body = `--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n${path}\r\n--edge\r\nContent-Disposition: form-data; name="files"\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n--edge--\r\n`
  const answer = await fetch(`http://127.0.0.1:${port}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'multipart/form-data; boundary=edge' },
    body,
  })
  expect({ status: answer.status, body: (await answer.json()) as object }).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', message: 'files: every file must have a name' },
  })
})

test('§7 stores several files byte by byte', async () => {
  const path = await makeDirectory('several')
  const [one, two] = [randomBytes(300_000), Buffer.alloc(0)]
  expect(
    await upload([
      ['path', path],
      ['files', one, 'one.bin'],
      ['files', two, 'two.bin'],
    ]),
  ).toEqual({
    status: 201,
    body: {
      success: true,
      data: {
        files: [
          { name: 'one.bin', path: `${path}/one.bin` },
          { name: 'two.bin', path: `${path}/two.bin` },
        ],
      },
    },
  })
  expect(await readFile(join(share, 'several/one.bin'))).toEqual(one)
  expect(await readFile(join(share, 'several/two.bin'))).toEqual(two)
  expect(await readdir(join(share, 'several'))).toEqual(['one.bin', 'two.bin'])
  expect(await notes()).toEqual([])
})

test('the activity log records what was uploaded where, and where an upload failed', async () => {
  const path = await makeDirectory('recorded')
  await upload([
    ['path', path],
    ['files', Buffer.from('canary-9034'), 'one.txt'],
    ['files', Buffer.from('x'), 'two.txt'],
  ])
  await upload([
    ['path', `${path}/none`],
    ['files', Buffer.from('x'), 'one.txt'],
  ])
  await upload([
    ['files', Buffer.from('x'), 'one.txt'],
    ['path', `${path}/late`],
  ])
  await upload([
    ['path', '/nfsshare/../..'],
    ['files', Buffer.from('x'), 'one.txt'],
  ])
  const { entries } = await platform.activityLog.list({ kind: 'file' })
  expect(
    entries
      .slice(0, 4)
      .map(({ username, action, subject, succeeded }) => [username, action, subject, succeeded])
      .reverse(),
  ).toEqual([
    ['ann', 'uploaded', `${path}/one.txt, ${path}/two.txt`, true],
    ['ann', 'uploaded', `${path}/none`, false],
    ['ann', 'uploaded', `${path}/late`, false],
    ['ann', 'uploaded', '/nfsshare/../..', false],
  ])
  expect(JSON.stringify(entries)).not.toContain('canary-9034')
})

test('a connection that sends several uploads accumulates no listeners', async () => {
  await makeDirectory('again')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const listeners: number[] = []
  platform.app.server.on('connection', (socket: Socket) =>
    socket.on('close', () => listeners.push(socket.listenerCount('timeout'))),
  )
  for (let round = 0; round < 5; round += 1) {
    const { body, type } = formOf({ path: '/nfsshare/again' }, 'a.txt', Buffer.from('x'))
    const status = await new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          port,
          agent,
          method: 'POST',
          path: '/api/sftp/upload',
          headers: { authorization: `Bearer ${ann.token}`, 'content-type': type, 'content-length': body.length },
        },
        (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode))
        },
      )
      sent.on('error', reject).end(body)
    })
    expect(status).toBe(201)
  }
  agent.destroy()
  await until(() => listeners.length > 0)
  // The listener of Node.js itself.
  expect(listeners).toEqual([1])
})

test('§7 the path may follow the files', async () => {
  const path = await makeDirectory('late')
  expect(
    await upload([
      ['files', Buffer.from('x'), 'a.txt'],
      ['path', path],
    ]),
  ).toMatchObject({ status: 201 })
  expect(await readdir(join(share, 'late'))).toEqual(['a.txt'])
  expect((await readdir(share)).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('decisions §3: an existing name is replaced, kept beside the new file, or refused, as requested', async () => {
  const path = await makeDirectory('existing', { 'world.tar.gz': 'old' })
  const send = (onConflict: string) =>
    upload([
      ['path', path],
      ['onConflict', onConflict],
      ['files', Buffer.from('new'), 'world.tar.gz'],
    ])
  expect(await send('refuse')).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } })
  expect(await readFile(join(share, 'existing/world.tar.gz'), 'utf8')).toBe('old')
  expect(await send('keepBoth')).toMatchObject({
    status: 201,
    body: { data: { files: [{ name: 'world (2).tar.gz' }] } },
  })
  expect(await send('keepBoth')).toMatchObject({
    status: 201,
    body: { data: { files: [{ name: 'world (3).tar.gz' }] } },
  })
  expect(await send('replace')).toMatchObject({ status: 201, body: { data: { files: [{ name: 'world.tar.gz' }] } } })
  expect(await readFile(join(share, 'existing/world.tar.gz'), 'utf8')).toBe('new')
  expect(await send('maybe')).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('onConflict') as string },
  })
  expect((await readdir(join(share, 'existing'))).sort()).toEqual([
    'world (2).tar.gz',
    'world (3).tar.gz',
    'world.tar.gz',
  ])
})

test('replacing a file keeps its permissions except setuid and setgid', async () => {
  const path = await makeDirectory('rights', { 'start.sh': 'old', secret: 'old', tool: 'old' })
  for (const [name, mode] of [
    ['start.sh', 0o755],
    ['secret', 0o600],
    ['tool', 0o6755],
  ] as const)
    await chmod(join(share, 'rights', name), mode)
  const modeOf = async (name: string) => (await stat(join(share, 'rights', name))).mode & 0o7777
  const others = await modeOf(
    (
      await upload([
        ['path', path],
        ['files', Buffer.from('x'), 'new'],
      ])
    ).body.data!.files[0]!.name,
  )
  for (const fields of [[['path', path]], []] as Part[][]) {
    const sent: Part[] = [
      ...fields,
      ['files', Buffer.from('new'), 'start.sh'],
      ['files', Buffer.from('new'), 'secret'],
      ['files', Buffer.from('new'), 'tool'],
    ]
    expect(await upload([...sent, ...(fields.length === 0 ? ([['path', path]] as Part[]) : [])])).toMatchObject({
      status: 201,
    })
    // The setuid and setgid bits are cleared, as by a save and by the kernel.
    expect(await Promise.all(['start.sh', 'secret', 'tool'].map(modeOf))).toEqual([0o755, 0o600, 0o755])
  }
  expect(await readFile(join(share, 'rights/start.sh'), 'utf8')).toBe('new')
  await upload([
    ['path', path],
    ['onConflict', 'keepBoth'],
    ['files', Buffer.from('x'), 'start.sh'],
  ])
  expect(await modeOf('start (2).sh')).toBe(others)
})

test('an upload never replaces a directory', async () => {
  const path = await makeDirectory('in-the-way')
  await mkdir(join(share, 'in-the-way/world'))
  expect(
    await upload([
      ['path', path],
      ['files', Buffer.from('x'), 'world'],
    ]),
  ).toMatchObject({ status: 409 })
  expect(await readdir(join(share, 'in-the-way'))).toEqual(['world'])
})

test('security 19: a name with a path is stored under its last segment; emoji, quotes and direction marks are kept', async () => {
  const path = await makeDirectory('names')
  for (const name of ['../../escaped.txt', '/etc/absolute.txt', '🚀 ‮gnp.exe', "it's 100% ü.txt"])
    expect(
      await upload([
        ['path', path],
        ['files', Buffer.from('x'), name],
      ]),
    ).toMatchObject({ status: 201 })
  expect((await readdir(join(share, 'names'))).sort()).toEqual(
    ['absolute.txt', 'escaped.txt', "it's 100% ü.txt", '🚀 ‮gnp.exe'].sort(),
  )
  expect(await readdir(share)).not.toContain('escaped.txt')
})

test('an upload into a missing directory or one that leads out is refused and leaves no file', async () => {
  await symlink('/tmp', join(share, 'out'))
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
  expect((await readdir(share)).filter((name) => name.endsWith('.part'))).toEqual([])
  expect(await notes()).toEqual([])
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
  const socket = connect(port, '127.0.0.1')
  let [received, error]: [string, Error | undefined] = ['', undefined]
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', (failure) => (error = failure)).on('data', (data) => (received += data.toString()))
  socket.write(
    `POST /api/sftp/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann.token}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${header}\r\n`,
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
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (data) => (received += data.toString()))
    socket.write(
      'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n{',
    )
    await until(() => received.includes('"code":"TOO_LARGE"'))
    socket.write(Buffer.alloc(1_999_999))
    socket.write('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => received.includes('HTTP/1.1 200'))
    socket.destroy()
  })

  test('is discarded up to a limit only', async () => {
    const read = new Promise<number>((resolve) =>
      platform.app.server.once('connection', (socket: Socket) => socket.once('close', () => resolve(socket.bytesRead))),
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
  expect(await readdir(join(share, 'limited'))).toEqual(['exact'])
})

test('security 21: a thousand aborted uploads leave no file, no temporary file and no open descriptor', async () => {
  const path = await makeDirectory('aborted', { 'kept.bin': 'kept' })
  const { body, type } = formOf({ path }, 'kept.bin', randomBytes(200_000))
  const abort = (index: number) =>
    new Promise<void>((resolve) => {
      const sending = httpRequest({
        port,
        host: '127.0.0.1',
        path: '/api/sftp/upload',
        method: 'POST',
        headers: { authorization: `Bearer ${ann.token}`, 'content-type': type, 'content-length': body.length },
      })
      sending.on('error', () => resolve())
      sending.on('close', () => resolve())
      const part = body.subarray(0, 300 + ((index * 7919) % (body.length - 400)))
      sending.write(part, () => sending.destroy())
    })
  for (let index = 0; index < 1000; index += 20)
    await Promise.all(Array.from({ length: 20 }, (_, offset) => abort(index + offset)))
  await until(async () => (await notes()).length === 0)
  expect(await readdir(join(share, 'aborted'))).toEqual(['kept.bin'])
  expect(await readFile(join(share, 'aborted/kept.bin'), 'utf8')).toBe('kept')
  await until(descriptors, (open) => open.length === 0)
})

test('security 21: a body shorter or longer than its declared length leaves no file', async () => {
  const path = await makeDirectory('lengths')
  const { body, type } = formOf({ path }, 'a.bin', Buffer.alloc(5000))
  for (const length of [body.length + 100, body.length - 1000]) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `POST /api/sftp/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann.token}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`,
    )
    await new Promise((resolve) => socket.end(body, () => resolve(undefined)))
    await new Promise((resolve) => socket.resume().once('close', resolve))
  }
  await until(async () => (await notes()).length === 0)
  expect(await readdir(join(share, 'lengths'))).toEqual([])
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
  const answer = await fetch(`http://127.0.0.1:${port}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}`, 'content-type': type },
    body,
  })
  expect([Math.floor(answer.status / 100), await answer.json()]).toMatchObject([4, { success: false }])
  // Also those of uploads whose client left in the test before.
  await until(async () => (await notes()).length === 0)
  expect((await platform.call('GET', '/api/health')).status).toBe(200)
})

test('security 117: files with names that are not UTF-8 get 400, because two of them may be decoded to one name', async () => {
  await makeDirectory('latin')
  const form = formOf({ path: '/nfsshare/latin' }, 'Grün.txt', Buffer.from('one'))
  const answer = await fetch(`http://127.0.0.1:${port}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}`, 'content-type': form.type },
    body: Buffer.from(form.body.toString(), 'latin1'),
  })
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'INVALID_INPUT', field: 'files' }])
  expect(await readdir(join(share, 'latin'))).toEqual([])
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
        fetch(`http://127.0.0.1:${port}/api/sftp/upload`, {
          method: 'POST',
          headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'multipart/form-data; boundary=edge' },
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
      await until(async () => isOver || (await notes()).length > 0)
      hangUp.abort()
      await sent
      await until(notes, (names) => names.length === 0)
      await until(descriptors, (open) => open.length === 0)
    }
  },
  60_000,
)

test('§2 deleting a user aborts their uploads, which leave no file', async () => {
  const path = await makeDirectory('of-a-deleted-user')
  const bob = await platform.register('bob')
  const { body, type } = formOf({ path }, 'late.txt', Buffer.alloc(1000))
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined).resume()
  socket.write(
    `POST /api/sftp/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bob.token}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(body.subarray(0, -100))
  await until(async () => (await notes()).length === 1)
  const { id } = (
    (await platform.call('GET', '/api/users', { token: ann.token })).body.data as {
      users: { id: number; username: string }[]
    }
  ).users.find(({ username }) => username === 'bob')!
  expect(await platform.call('DELETE', `/api/users/${id}`, { token: ann.token })).toMatchObject({ status: 200 })
  await closed
  await until(async () => (await notes()).length === 0)
  expect(await readdir(join(share, 'of-a-deleted-user'))).toEqual([])
})

test('security 25: of two concurrent uploads of one name one is stored completely', async () => {
  const path = await makeDirectory('twice')
  const contents = [Buffer.alloc(900_000, 1), Buffer.alloc(900_000, 2)]
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(
      contents.map((content) =>
        upload([
          ['path', path],
          ['files', content, 'world.zip'],
        ]),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    const stored = await readFile(join(share, 'twice/world.zip'))
    expect(contents.some((content) => content.equals(stored))).toBe(true)
  }
})

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
