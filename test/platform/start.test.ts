import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../support/platform/freePort'
import { freshDatabase, migratedDatabase } from '../support/platform/freshState'
import { withClient } from '../support/platform/postgresClients'
import { processesOf } from '../support/platform/processesOf'
import { killLeftovers, readyUrl, runProgram, type RunningProgram } from '../support/platform/runPlatform'
import { runsOf } from '../support/platform/runsOf'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

jest.setTimeout(300_000)

const directory = useTemporaryDirectory()
// Allows warnings: another test's PostgreSQL may have taken the port of this one.
const free = { QUARTERDECK_PORT: '0', QUARTERDECK_LOG_LEVEL: 'error' }

afterAll(killLeftovers)

const run = (settings: Record<string, string>, args: string[] = []) =>
  runProgram('main', { ...free, ...settings }, [], undefined, args)
const health = async (platform: RunningProgram) => (await fetch(`${await readyUrl(platform)}/api/health`)).status

async function end(platform: RunningProgram, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  platform.child.kill(signal)
  return platform.exited
}

describe('a start that cannot succeed prints one clear line and exits with code 1:', () => {
  const cases: [string, () => Promise<Record<string, string>> | Record<string, string>, RegExp][] = [
    ['a wrong setting', () => ({ QUARTERDECK_PORT: 'eighty' }), /^QUARTERDECK_PORT: must be a port from 0 to 65535$/],
    [
      'a data directory that cannot be written',
      () => ({ QUARTERDECK_DATA_DIR: '/dev/null/data' }),
      /^The directory \/dev\/null\/data cannot be used \(ENOTDIR\): make it a writable directory or choose another one$/,
    ],
    [
      'a data directory that is a file',
      () => {
        writeFileSync(join(directory(), 'a-file'), '')
        return { QUARTERDECK_DATA_DIR: join(directory(), 'a-file') }
      },
      /a-file cannot be used \(EEXIST\)/,
    ],
    [
      'a link-local address without its interface',
      () => ({ QUARTERDECK_DATA_DIR: join(directory(), 'link-local'), QUARTERDECK_HOST: 'fe80::1' }),
      /^fe80::1 is not an address of this machine: correct QUARTERDECK_HOST$/,
    ],
    [
      'an unreachable PostgreSQL',
      () => ({
        QUARTERDECK_DATA_DIR: join(directory(), 'unreachable'),
        QUARTERDECK_STATE_URL: 'postgresql://me:hush@127.0.0.1:1/x',
      }),
      /^PostgreSQL at 127\.0\.0\.1:1 cannot be reached: start it or correct QUARTERDECK_STATE_URL$/,
    ],
    [
      'the Kubernetes runtime without a database that replicas can share',
      () => ({ QUARTERDECK_DATA_DIR: join(directory(), 'k8s'), QUARTERDECK_RUNTIME: 'kubernetes' }),
      /^QUARTERDECK_STATE_URL: /,
    ],
  ]
  const inShare: [string, string, string][] = [
    ['below it', 'share', 'share/data'],
    ['the same directory', 'share', 'share'],
    ['below it by a link', 'share', 'link/data'],
    ['below it, which is named by a link', 'link', 'share/data'],
  ]
  test.each(inShare)('security 171: a data directory in the shared area, %s', async (_case, share, data) => {
    mkdirSync(join(directory(), 'share'), { recursive: true })
    if (!existsSync(join(directory(), 'link'))) symlinkSync('share', join(directory(), 'link'))
    const settings = {
      QUARTERDECK_SHARE_DIR: join(directory(), share),
      QUARTERDECK_DATA_DIR: join(directory(), data),
      // If it starts all the same, this ends it, with another line.
      QUARTERDECK_STATE_URL: 'postgresql://me:hush@127.0.0.1:1/x',
    }
    const platform = run(settings)
    expect(await platform.exited).toBe(1)
    expect(platform.output().stderr.trimEnd()).toBe(
      `QUARTERDECK_SHARE_DIR: ${settings.QUARTERDECK_SHARE_DIR} must not contain the data directory ${settings.QUARTERDECK_DATA_DIR}, whose keys its users could read: choose another directory for one of them`,
    )
  })

  test.each(cases)('%s', async (_case, settings, line) => {
    const platform = run(await settings())
    expect(await platform.exited).toBe(1)
    const { stdout, stderr } = platform.output()
    expect(stdout).toBe('')
    expect(stderr.trimEnd()).toMatch(line)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  test('a port in use', async () => {
    const { url, drop } = await freshDatabase()
    const server = createServer().listen(0, '127.0.0.1')
    await until(() => server.listening)
    const { port } = server.address() as AddressInfo
    const dataDir = join(directory(), 'port-in-use')
    const platform = run({
      QUARTERDECK_DATA_DIR: dataDir,
      QUARTERDECK_STATE_URL: url,
      QUARTERDECK_PORT: String(port),
    })
    expect(await platform.exited).toBe(1)
    expect(platform.output().stderr.trimEnd()).toBe(
      `Port ${port} on 127.0.0.1 is in use: stop the program that uses it or set QUARTERDECK_PORT`,
    )
    // Nothing was started that would go on without a platform.
    expect(existsSync(join(dataDir, 'nfsshare'))).toBe(false)
    server.close()
    await stopHost(dataDir)
    await drop()
  })

  test('an argument, because there are only settings', async () => {
    const dataDir = join(directory(), 'argument')
    const platform = run({ QUARTERDECK_DATA_DIR: dataDir, QUARTERDECK_SAMPLE: 'off' }, ['--port', '9000'])
    expect(await platform.exited).toBe(1)
    expect(platform.output().stderr.trimEnd()).toBe(
      'Quarterdeck takes no arguments such as --port: its settings are environment variables (README, "Settings")',
    )
    expect(existsSync(dataDir)).toBe(false)
  })
})

test('a first start that is killed or fails leaves the sample deployment to the next one', async () => {
  const { url, drop } = await freshDatabase()
  const dataDir = join(directory(), 'killed')
  const settings = { QUARTERDECK_DATA_DIR: dataDir, QUARTERDECK_STATE_URL: url, QUARTERDECK_ISOLATION: 'off' }
  const killed = run(settings)
  await until(() => existsSync(dataDir) && readdirSync(dataDir).length > 0)
  await end(killed, 'SIGKILL')
  expect(await run({ ...settings, QUARTERDECK_STATE_URL: 'postgresql://me@127.0.0.1:1/x' }).exited).toBe(1)
  expect(existsSync(join(dataDir, 'nfsshare/sample'))).toBe(false)

  const platform = run(settings)
  expect(await health(platform)).toBe(200)
  await until(
    () => runsOf(dataDir),
    ([sample]) => sample?.state === 'RUNNING',
  )
  expect(await end(platform)).toBe(0)
  await stopHost(dataDir)
  await drop()
})

test('the first invite is stored before health reports the platform as ready', async () => {
  const { url, drop } = await migratedDatabase()
  const port = await freePort()
  await withClient(url, async (client) => {
    await client.query('begin; lock table invites in exclusive mode')
    const platform = run({
      QUARTERDECK_DATA_DIR: join(directory(), 'first-invite'),
      QUARTERDECK_STATE_URL: url,
      QUARTERDECK_SQL_URL: url,
      QUARTERDECK_ISOLATION: 'off',
      QUARTERDECK_PORT: String(port),
    })
    // In the transaction, the view would not change.
    await withClient(url, (watcher) =>
      until(async () => {
        const { rowCount } = await watcher.query(
          "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        )
        return rowCount
      }),
    )
    await expect(fetch(`http://127.0.0.1:${port}/api/health`)).rejects.toThrow()
    await client.query('commit')
    expect(await health(platform)).toBe(200)
    await end(platform)
  })
  await stopHost(join(directory(), 'first-invite'))
  await drop()
})

test.each(['auto', 'off'])(
  'with isolation %s, the sample instance survives a stop and a kill of the platform, and stop:all ends it',
  async (isolation) => {
    const dataDir = join(directory(), `life-${isolation}`)
    const settings = {
      QUARTERDECK_DATA_DIR: dataDir,
      QUARTERDECK_FIRST_INVITE: 'first-invite-of-all',
      QUARTERDECK_ISOLATION: isolation,
    }

    const first = run(settings)
    expect(await health(first)).toBe(200)
    expect(first.output().stdout).toContain('first-invite-of-all')
    const sample = async () => runsOf(dataDir)
    await until(sample, (instances) => instances[0]?.state === 'RUNNING')
    const { runId } = (await sample())[0]!

    const second = run(settings)
    expect(await second.exited).toBe(1)
    expect(second.output().stderr.trimEnd()).toBe(
      `Quarterdeck is already running in ${dataDir} (process ${first.child.pid})`,
    )

    expect(await end(first)).toBe(0)
    expect(processesOf(join(dataDir, 'state'))).toEqual([])
    expect(await sample()).toMatchObject([{ runId, state: 'RUNNING' }])

    // After a kill, PostgreSQL notices the loss of its parent and shuts down; the instance keeps running.
    const killed = run(settings)
    expect(await health(killed)).toBe(200)
    await end(killed, 'SIGKILL')
    expect(await sample()).toMatchObject([{ runId, state: 'RUNNING' }])

    const last = run(settings)
    expect(await health(last)).toBe(200)
    expect(await sample()).toMatchObject([{ runId, state: 'RUNNING' }])
    expect(last.output().stderr).toBe('')

    const stop = runProgram('runtime/local/stopAll', { QUARTERDECK_DATA_DIR: dataDir })
    expect(await stop.exited).toBe(0)
    expect(stop.output().stdout).toBe('Stopping the platform …\nStopping 1 instance …\nEverything has ended.\n')
    expect(await last.exited).toBe(0)
    await until(
      () => processesOf(dataDir),
      (pids) => pids.length === 0,
    )

    const again = runProgram('runtime/local/stopAll', { QUARTERDECK_DATA_DIR: dataDir })
    expect(await again.exited).toBe(0)
    expect(again.output().stdout).toBe('Nothing was running.\n')
  },
)

test('the embedded PostgreSQL is restarted when it exits, and meanwhile calls get 503', async () => {
  const dataDir = join(directory(), 'fault')
  const platform = run({ QUARTERDECK_DATA_DIR: dataDir, QUARTERDECK_SAMPLE: 'off' })
  expect(await health(platform)).toBe(200)
  expect(existsSync(join(dataDir, 'nfsshare/sample'))).toBe(false)
  const postmaster = Number(readFileSync(join(dataDir, 'state/postmaster.pid'), 'utf8').split('\n')[0])
  process.kill(postmaster, 'SIGINT')
  const url = await readyUrl(platform)
  const login = async () => {
    const answer = await fetch(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'x', password: 'y' }),
    })
    return { status: answer.status, body: (await answer.json()) as { code: string } }
  }
  const down = await until(login, ({ status }) => status === 503)
  expect(down.body.code).toBe('UNAVAILABLE')
  await until(
    () => health(platform),
    (status) => status === 200,
  )
  expect(await login()).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
  await end(platform)
  await stopHost(dataDir)
})
