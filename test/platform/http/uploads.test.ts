import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { type Socket } from 'node:net'
import { join } from 'node:path'
import { until } from '../../support/platform/until'
import { useUploadRequests, formOf, type Part } from '../../support/platform/uploadRequests'

const { platform, ann, share, port, upload, makeDirectory, temporaryRecords } = useUploadRequests()

test('the names in their own field are preferred to those of the parts, which browsers percent-encode', async () => {
  const path = await makeDirectory('named')
  const names = ['a"b.txt', '100%22.txt']
  const { status } = await upload([
    ['path', path],
    ['names', JSON.stringify(names)],
    ['files', Buffer.from('one'), names[0]!],
    ['files', Buffer.from('two'), names[1]!],
  ])
  expect(status).toBe(201)
  expect((await readdir(join(share(), 'named'))).sort()).toEqual(names.toSorted())
  expect(await readFile(join(share(), 'named', 'a"b.txt'), 'utf8')).toBe('one')
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
  expect(await readdir(join(share(), path.slice('/nfsshare/'.length)))).toEqual([])
})

test('§7 several files are stored byte by byte', async () => {
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
  expect(await readFile(join(share(), 'several/one.bin'))).toEqual(one)
  expect(await readFile(join(share(), 'several/two.bin'))).toEqual(two)
  expect(await readdir(join(share(), 'several'))).toEqual(['one.bin', 'two.bin'])
  expect(await temporaryRecords()).toEqual([])
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
  const { entries } = await platform().activityLog.list({ kind: 'file' })
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
  platform().app.server.on('connection', (socket: Socket) =>
    socket.on('close', () => listeners.push(socket.listenerCount('timeout'))),
  )
  for (let round = 0; round < 5; round += 1) {
    const { body, type } = formOf({ path: '/nfsshare/again' }, 'a.txt', Buffer.from('x'))
    const status = await new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          port: port(),
          agent,
          method: 'POST',
          path: '/api/sftp/upload',
          headers: { authorization: `Bearer ${ann().token}`, 'content-type': type, 'content-length': body.length },
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
  expect(await readdir(join(share(), 'late'))).toEqual(['a.txt'])
  expect((await readdir(share())).filter((name) => name.endsWith('.part'))).toEqual([])
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
  expect(await readFile(join(share(), 'existing/world.tar.gz'), 'utf8')).toBe('old')
  expect(await send('keepBoth')).toMatchObject({
    status: 201,
    body: { data: { files: [{ name: 'world (2).tar.gz' }] } },
  })
  expect(await send('keepBoth')).toMatchObject({
    status: 201,
    body: { data: { files: [{ name: 'world (3).tar.gz' }] } },
  })
  expect(await send('replace')).toMatchObject({ status: 201, body: { data: { files: [{ name: 'world.tar.gz' }] } } })
  expect(await readFile(join(share(), 'existing/world.tar.gz'), 'utf8')).toBe('new')
  expect(await send('maybe')).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('onConflict') as string },
  })
  expect((await readdir(join(share(), 'existing'))).sort()).toEqual([
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
    await chmod(join(share(), 'rights', name), mode)
  const modeOf = async (name: string) => (await stat(join(share(), 'rights', name))).mode & 0o7777
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
  expect(await readFile(join(share(), 'rights/start.sh'), 'utf8')).toBe('new')
  await upload([
    ['path', path],
    ['onConflict', 'keepBoth'],
    ['files', Buffer.from('x'), 'start.sh'],
  ])
  expect(await modeOf('start (2).sh')).toBe(others)
})

test('an upload never replaces a directory', async () => {
  const path = await makeDirectory('in-the-way')
  await mkdir(join(share(), 'in-the-way/world'))
  expect(
    await upload([
      ['path', path],
      ['files', Buffer.from('x'), 'world'],
    ]),
  ).toMatchObject({ status: 409 })
  expect(await readdir(join(share(), 'in-the-way'))).toEqual(['world'])
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
  expect((await readdir(join(share(), 'names'))).sort()).toEqual(
    ['absolute.txt', 'escaped.txt', "it's 100% ü.txt", '🚀 ‮gnp.exe'].sort(),
  )
  expect(await readdir(share())).not.toContain('escaped.txt')
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
    const stored = await readFile(join(share(), 'twice/world.zip'))
    expect(contents.some((content) => content.equals(stored))).toBe(true)
  }
})

test('security 156: files of one name are kept beside thousands of others within seconds', async () => {
  const path = await makeDirectory('beside')
  for (let count = 2; count <= 3000; count += 1) await writeFile(join(share(), 'beside', `a (${count})`), '')
  await writeFile(join(share(), 'beside', 'a'), '')
  const files = Array.from({ length: 500 }, (): Part => ['files', Buffer.from('new'), 'a'])
  const { status, body } = await upload([['path', path], ['onConflict', 'keepBoth'], ...files])
  expect(status).toBe(201)
  expect(body.data?.files.map(({ name }) => name)).toEqual(files.map((_file, index) => `a (${3001 + index})`))
})

test('a failure says which files of its form are stored already', async () => {
  const path = await makeDirectory('partly')
  const files = Array.from({ length: 12 }, (_, at): Part => ['files', Buffer.from('new'), `file${at}`])
  await mkdir(join(share(), 'partly', 'file2'))
  expect(await upload([['path', path], ...files])).toMatchObject({
    status: 409,
    body: {
      code: 'CONFLICT',
      message: `${path}/file2 is a directory. The files before it in the form are stored: "file0", "file1".`,
    },
  })
  expect((await readdir(join(share(), 'partly'))).sort()).toEqual(['file0', 'file1', 'file2'])
  await mkdir(join(share(), 'partly', 'file11'))
  await rmdir(join(share(), 'partly', 'file2'))
  const { body } = await upload([['path', path], ...files])
  expect(body.message).toMatch(/are stored: "file0", .*, "file9" and 1 more\.$/)
})
