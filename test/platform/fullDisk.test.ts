import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'otplib'
import { Client } from 'pg'
import { endProgram, killLeftovers, readyUrl, runProgram, type RunningProgram } from '../support/platform/runPlatform'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, unmount } from '../support/platform/tmpfs'
import { until } from '../support/platform/until'

const directory = useTemporaryDirectory()
const dataDir = () => join(directory(), 'disk')
const ballast = () => join(dataDir(), 'ballast')

interface Level {
  level: string
}

interface Answer {
  status: number
  body: { code: string; message: string; data: Record<string, unknown> }
}

;(canMount ? describe : describe.skip)('a full disk', () => {
  let platform: RunningProgram
  let url: string
  let token = ''

  async function call(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = {
      ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    }
    const sent = body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }
    const answer = await fetch(`${url}/api/${path}`, { method, headers, ...sent })
    return { status: answer.status, body: (await answer.json()) as Answer['body'] }
  }

  /** Fills the disk up to this number of free bytes. */
  function fill(leave = 0): void {
    const { bavail, bsize } = statfsSync(dataDir())
    const file = openSync(ballast(), 'a')
    try {
      for (let rest = bavail * bsize - leave; rest > 0 || leave === 0; rest -= bsize)
        writeSync(file, Buffer.alloc(bsize))
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error
    } finally {
      closeSync(file)
    }
  }

  const instance = async () =>
    (
      (await call('GET', 'deployments/sample/instances')).body.data.instances as {
        state: string
        podName: string
        startedAt: number
      }[]
    )[0]
  const upload = () => {
    const form = new FormData()
    form.append('path', '/nfsshare/sample')
    form.append('files', new Blob([Buffer.alloc(2 ** 20)]), 'large.bin')
    return call('POST', 'sftp/upload', form)
  }
  const save = (content: string) => call('PATCH', 'sftp/file/content', { path: '/nfsshare/sample/sample.txt', content })

  beforeAll(async () => {
    mountTmpfs(dataDir(), '260m')
    platform = runProgram('main', {
      QUARTERDECK_PORT: '0',
      QUARTERDECK_LOG_LEVEL: 'warn',
      QUARTERDECK_FIRST_INVITE: 'first-invite-of-all',
      QUARTERDECK_DATA_DIR: dataDir(),
    })
    url = await readyUrl(platform)
    const account = { username: 'operator', password: 'correct horse battery' }
    const inviteToken = (await call('POST', 'auth/verify-invite', { inviteCode: 'first-invite-of-all' })).body.data
      .token
    const secret = String((await call('POST', 'auth/register', { ...account, inviteToken })).body.data.secret)
    const verified = await call('POST', 'auth/verify-registration', {
      username: account.username,
      token: await generate({ secret }),
      inviteToken,
    })
    token = String(verified.body.data.loginToken)
    await until(instance, (now) => now?.state === 'RUNNING')
  })
  afterAll(async () => {
    await endProgram(platform)
    await stopHost(dataDir())
    killLeftovers()
    unmount(dataDir())
  })

  const health = async () => {
    const { status, body } = await call('GET', 'health')
    const { message, disks = body.data.disks as Level[] } = body as unknown as { message?: string; disks?: Level[] }
    return { status, message, levels: disks.map(({ level }) => level) }
  }
  const configure = (comment: string) => {
    const content = `name: sample\ntype: process\ndataDirectory: /sample\nrun: { command: ["node", "sample.js"] }\nready: '^Ready$'\n# ${comment}\n`
    return call('PATCH', 'deployments/sample', { content })
  }
  const FULL = { status: 507, body: { code: 'DISK_FULL' } }

  test('causes 507 for writes, is reported by health, ends no process, and everything works again when space is free', async () => {
    const { podName, startedAt } = (await instance())!
    expect(await save('first')).toMatchObject({ status: 200 })
    expect(await health()).toEqual({ status: 200, message: undefined, levels: ['ok'] })

    fill(20 * 2 ** 20)
    expect(await health()).toEqual({ status: 200, message: undefined, levels: ['low'] })
    fill(4.5 * 2 ** 20)
    expect(await health()).toEqual({ status: 200, message: undefined, levels: ['critical'] })
    expect((await call('GET', 'network/getManagerTimestamp')).body.data.disks).toMatchObject([
      { name: 'data', level: 'critical' },
    ])
    fill()
    expect(await health()).toEqual({ status: 503, message: 'Not ready: disk', levels: ['full'] })
    expect(await save('x'.repeat(100_000))).toMatchObject(FULL)
    expect(await upload()).toMatchObject(FULL)
    // PostgreSQL has spare room in its own files, which incompressible texts use up.
    let saved = ''
    let refused: Answer
    do {
      const comment = randomBytes(7000).toString('hex')
      refused = await configure(comment)
      if (refused.status === 200) saved = comment
    } while (refused.status === 200)
    expect(refused).toMatchObject(FULL)
    expect((await call('GET', 'deployments/sample')).body.data.content).toContain(saved)
    expect(await instance()).toMatchObject({ state: 'RUNNING', podName, startedAt })
    expect((await call('GET', 'sftp/file/content?path=/nfsshare/sample/sample.txt')).body.data).toMatchObject({
      content: 'first',
    })

    rmSync(ballast())
    expect(await save('again')).toMatchObject({ status: 200 })
    expect(await upload()).toMatchObject({ status: 201 })
    expect(await configure('again')).toMatchObject({ status: 200 })
    expect(await health()).toMatchObject({ status: 200 })
    expect(await instance()).toMatchObject({ state: 'RUNNING', podName, startedAt })
  })

  test('stops only PostgreSQL when there is no room for its journal, until space is free', async () => {
    const { podName, startedAt } = (await instance())!
    const { adminPassword, port } = JSON.parse(readFileSync(join(dataDir(), 'state.json'), 'utf8')) as {
      adminPassword: string
      port: number
    }
    const client = new Client({
      host: join(dataDir(), 'state.sockets'),
      port,
      user: 'postgres',
      password: adminPassword,
      database: 'postgres',
    })
    client.on('error', () => undefined)
    await client.connect()
    fill()
    // Each of them takes a new segment of the journal.
    await expect(
      (async () => {
        for (;;) await client.query("select pg_logical_emit_message(true, 'test', 'x'), pg_switch_wal()")
      })(),
    ).rejects.toThrow()
    await client.end().catch(() => undefined)
    await until(health, ({ message }) => message === 'Not ready: database, disk')
    expect(platform.child.exitCode).toBeNull()

    rmSync(ballast())
    await until(health, ({ status }) => status === 200)
    expect(await configure('after the journal')).toMatchObject({ status: 200 })
    expect(await instance()).toMatchObject({ state: 'RUNNING', podName, startedAt })
  })
})
