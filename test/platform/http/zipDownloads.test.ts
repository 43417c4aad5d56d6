import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { useDownloadRequests } from '../../support/platform/downloadRequests'
import { until } from '../../support/platform/until'

const { platform, ann, cyd, share, origin, ticketFor, zipOf } = useDownloadRequests()

describe('several files', () => {
  const unzipped = async (answer: Response) => {
    const directory = join(platform().dataDir, `unzipped-${Math.random()}`)
    await mkdir(directory)
    await writeFile(join(directory, 'got.zip'), Buffer.from(await answer.arrayBuffer()))
    // Unpacked by another program than ours.
    await promisify(execFile)(process.execPath, [require.resolve('7z-wasm/cli.js'), 'x', '-y', 'got.zip'], {
      cwd: directory,
    })
    return directory
  }

  beforeAll(async () => {
    await mkdir(join(share(), 'zipped/deep/empty'), { recursive: true })
    await writeFile(join(share(), 'zipped/deep/ü 🚀.txt'), 'deep')
    await writeFile(join(share(), 'zipped/nothing'), '')
    await symlink('/etc', join(share(), 'zipped/out'))
    await promisify(execFile)('mkfifo', [join(share(), 'zipped/pipe')])
    await writeFile(join(share(), 'beside.bin'), randomBytes(400_000))
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
    expect(await readFile(join(directory, 'beside.bin'))).toEqual(await readFile(join(share(), 'beside.bin')))
  })

  test('§7 one directory is sent as {name}.zip, and the root as its entries', async () => {
    expect((await zipOf([{ path: '/nfsshare/zipped', name: 'zipped' }])).headers.get('content-disposition')).toBe(
      'attachment; filename=zipped.zip',
    )
    const directory = await unzipped(await zipOf([{ path: '/nfsshare', name: 'nfsshare' }]))
    expect(await readdir(directory)).toContain('zipped')
  })

  test('a link that stays inside is packed as its target, under the name of the link', async () => {
    await mkdir(join(share(), 'links'))
    for (const [name, target] of [
      ['alias', '../zipped/deep'],
      ['again.bin', '../beside.bin'],
      ['all', '.'],
    ] as const)
      await symlink(target, join(share(), 'links', name))
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
    expect(await readFile(join(directory, 'again.bin'))).toEqual(await readFile(join(share(), 'beside.bin')))
  })

  test('a name with a line end gives a valid header', async () => {
    await writeFile(join(share(), 'lines'), 'x')
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
  async function begin(
    name: string,
    { token } = ann(),
  ): Promise<{ sending: ClientRequest; status: number | undefined }> {
    const sending = request(`${origin()}/api/sftp/download-multiple`, {
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
    await promisify(execFile)('truncate', ['-s', '300M', join(share(), 'large.jar')])
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
    const other = await begin('large.jar', cyd())
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
    ).filter((path) => path.startsWith(share()))

  test('a client that disconnects before anything is sent leaves no file open, for files and zips', async () => {
    await promisify(execFile)('truncate', ['-s', '300M', join(share(), 'left.jar')])
    const leave = async (sending: ClientRequest, turns: number) => {
      sending.on('error', () => undefined).end()
      // Disconnects after a different number of turns each time; the server runs in this process too.
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      sending.destroy()
    }
    for (let turns = 0; turns < 60; turns += 2) {
      const token = await ticketFor('/nfsshare/left.jar')
      await leave(
        request(`${origin()}/api/sftp/download?path=/nfsshare/left.jar&token=${encodeURIComponent(token)}`),
        turns,
      )
      const several = request(`${origin()}/api/sftp/download-multiple`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann().token}`, 'content-type': 'application/json' },
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
    await promisify(execFile)('truncate', ['-s', '300M', join(share(), 'huge.jar')])
    const sending = request(`${origin()}/api/sftp/download-multiple`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann().token}`, 'content-type': 'application/json' },
    })
    sending.end(JSON.stringify({ files: [{ path: '/nfsshare/huge.jar', name: 'huge.jar' }] }))
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    await once(answer, 'data')
    answer.pause()
    expect(await open()).toContain(join(share(), 'huge.jar'))
    sending.destroy()
    await until(open, (paths) => paths.length === 0)
  })
})
