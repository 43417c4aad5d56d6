import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import pino from 'pino'
import { holdPlatformLock } from '../../src/platform/state/locks/platformLock'
import { breakableProxy } from '../support/platform/breakableProxy'
import { freshDatabase } from '../support/platform/freshState'
import { canContain } from '../support/platform/canContain'
import { isGone, parentOf, processesOf, signalIfThere } from '../support/platform/processesOf'
import { endProgram, killLeftovers, readyUrl, runProgram } from '../support/platform/runPlatform'
import { pidOfRun, runsOf } from '../support/platform/runsOf'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

const directory = useTemporaryDirectory()
const silent = pino({ level: 'silent' })
const run = (settings: Record<string, string>, under?: string[]) =>
  runProgram(
    'main',
    { QUARTERDECK_PORT: '0', QUARTERDECK_LOG_LEVEL: 'error', QUARTERDECK_SAMPLE: 'off', ...settings },
    under,
  )

afterAll(killLeftovers)

describe('one data directory', () => {
  /** Like a container: a separate pid namespace whose first process stays when the platform is killed. */
  const CONTAINER = [
    'unshare',
    '--pid',
    '--fork',
    '--mount-proc',
    '--kill-child',
    'sh',
    '-c',
    '"$@" & wait $!; code=$?; [ $code = 137 ] && sleep 600; exit $code',
    'sh',
  ]
  const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0
  const dataDir = () => join(directory(), 'shared')
  const pidFile = () => readFileSync(join(dataDir(), 'state/postmaster.pid'), 'utf8')
  /** Without processes that PostgreSQL has just forked, which have the command line of their parent for a moment. */
  const postmasters = () => {
    const named = processesOf(join(dataDir(), 'state'))
    return named.filter((pid) => !named.includes(parentOf(pid) ?? pid))
  }

  ;(canUnshare ? test : test.skip)(
    'is used by one container at a time, and PostgreSQL of the first must end before the second starts its own',
    async () => {
      const settings = { QUARTERDECK_DATA_DIR: dataDir() }
      const first = run(settings, CONTAINER)
      await readyUrl(first)
      const [postmaster = 0] = postmasters()
      const pids = pidFile()

      const second = run(settings, CONTAINER)
      expect(await second.exited).toBe(1)
      expect(second.output().stderr.trimEnd()).toBe(
        `Quarterdeck is already running in ${dataDir()} (in another container or on another machine)`,
      )
      const stop = runProgram('runtime/local/stopAll', settings)
      expect(await stop.exited).toBe(1)
      expect(stop.output().stderr.trimEnd()).toBe(
        `The platform of ${dataDir()} runs in another container or on another machine: run this command there`,
      )
      expect(pidFile()).toBe(pids)

      // The platform is killed while its PostgreSQL is suspended.
      process.kill(postmaster, 'SIGSTOP')
      process.kill(parentOf(postmaster)!, 'SIGKILL')
      const third = run({ ...settings, QUARTERDECK_LOG_LEVEL: 'info' }, CONTAINER)
      await until(() => third.output().stderr.includes('waiting for the PostgreSQL of an earlier start'))
      expect(pidFile()).toBe(pids)
      expect(postmasters()).toEqual([postmaster])
      process.kill(postmaster, 'SIGCONT')
      await readyUrl(third)
      expect(postmasters()).toHaveLength(1)
      first.child.kill('SIGKILL')
      // Kills the whole container at once, as the kernel does when its first process dies.
      third.child.kill('SIGKILL')
      await until(() => postmasters().length === 0)
    },
  )

  ;(canUnshare && canContain ? test : test.skip)(
    'security 238: whose instances run outside of a container is refused within it, so that none runs twice',
    async () => {
      const settings = { QUARTERDECK_DATA_DIR: join(directory(), 'moved'), QUARTERDECK_SAMPLE: 'on' }
      const first = run(settings)
      await readyUrl(first)
      await until(() => runsOf(settings.QUARTERDECK_DATA_DIR).some(({ state }) => state === 'RUNNING'))
      const pid = pidOfRun(settings.QUARTERDECK_DATA_DIR)
      await endProgram(first)

      const within = [...CONTAINER.slice(0, -4), 'sh', '-c', '"$@"', 'sh']
      const starts = [
        () => run(settings, within),
        () => run({ ...settings, QUARTERDECK_ISOLATION: 'off' }, within),
        () => runProgram('runtime/local/stopAll', settings, within),
      ]
      for (const start of starts) {
        const program = start()
        expect(await program.exited).toBe(1)
        expect(program.output().stderr.trimEnd()).toBe(
          `Instances of ${settings.QUARTERDECK_DATA_DIR} run in another container, or outside of this one: stop them with stop:all there first`,
        )
      }
      expect(isGone(pid)).toBe(false)

      const stop = runProgram('runtime/local/stopAll', settings)
      expect(await stop.exited).toBe(0)
      const moved = run(settings, within)
      await readyUrl(moved)
      moved.child.kill('SIGKILL')
    },
  )

  ;(canUnshare && canContain ? test : test.skip).each([
    ['with mounts of its own, as each start of a systemd service is', ['unshare', '--mount'], ['unshare', '--mount']],
    ['with a capability that the next start lacks', [], ['setpriv', '--bounding-set', '-net_bind_service,-sys_ptrace']],
  ])('is used again after its instances were started %s', async (_how, under, underNext) => {
    const settings = { QUARTERDECK_DATA_DIR: join(directory(), `next-${under.length}`), QUARTERDECK_SAMPLE: 'on' }
    const runs = () => runsOf(settings.QUARTERDECK_DATA_DIR)
    const first = run(settings, under)
    await readyUrl(first)
    await until(() => runs().some(({ state }) => state === 'RUNNING'))
    const before = runs()
    await endProgram(first)
    const second = run(settings, underNext)
    await readyUrl(second)
    expect(runs()).toMatchObject(before.map(({ runId }) => ({ runId, state: 'RUNNING' })))
    await endProgram(second)
    await stopHost(settings.QUARTERDECK_DATA_DIR)
  })

  test('starts after a crash although the pid of its PostgreSQL now belongs to another process, which names a file there', async () => {
    const settings = { QUARTERDECK_DATA_DIR: join(directory(), 'crashed') }
    const file = join(settings.QUARTERDECK_DATA_DIR, 'state/postmaster.pid')
    const first = run(settings)
    await readyUrl(first)
    const [, ...rest] = readFileSync(file, 'utf8').split('\n')
    const postmaster = processesOf(join(settings.QUARTERDECK_DATA_DIR, 'state'))
    for (const pid of [first.child.pid!, ...postmaster]) signalIfThere(pid, 'SIGKILL')
    await until(() => processesOf(join(settings.QUARTERDECK_DATA_DIR, 'state')).length === 0)
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', file], { stdio: 'ignore' })
    try {
      writeFileSync(file, [other.pid, ...rest].join('\n'))
      const second = run(settings)
      await readyUrl(second)
      expect(await endProgram(second)).toBe(0)
    } finally {
      other.kill()
    }
    await stopHost(settings.QUARTERDECK_DATA_DIR)
  })

  test('is refused in one line if flock(1) is not installed', async () => {
    const platform = run({ QUARTERDECK_DATA_DIR: join(directory(), 'no-flock'), PATH: '/nowhere' })
    expect(await platform.exited).toBe(1)
    expect(platform.output().stderr.trimEnd()).toBe(
      '`flock` (util-linux) is not installed: install it. It prevents two platforms from using one data directory',
    )
  })
})

describe('§15 one state', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  const clients: Client[] = []
  const connectTo = async () => {
    const client = new Client({ connectionString: database.url })
    client.on('error', () => undefined)
    clients.push(client)
    await client.connect()
    return client
  }
  const LOCKS =
    "select pid from pg_locks where locktype = 'advisory' and objid = 7230002 and granted and database = (select oid from pg_database where datname = current_database())"
  const holderOf = async (client: Client) => (await client.query<{ pid: number }>(LOCKS)).rows[0]?.pid

  beforeEach(async () => void (database = await freshDatabase()))
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end()
    await database.drop()
  })

  test('a second platform with the local runtime is refused at the start, in one line', async () => {
    const release = await holdPlatformLock(database.url, silent, () => undefined)
    const dataDir = join(directory(), 'second')
    const settings = {
      QUARTERDECK_DATA_DIR: dataDir,
      QUARTERDECK_STATE_URL: database.url,
      QUARTERDECK_SQL_URL: database.url,
    }
    const refused = run(settings)
    expect(await refused.exited).toBe(1)
    expect(refused.output().stderr.trimEnd()).toBe(
      'Another Quarterdeck with the local runtime uses this state: stop it, or name another database in QUARTERDECK_STATE_URL',
    )
    // A start of a newer version must not migrate the tables of the running platform.
    const { rows } = await (await connectTo()).query("select tablename from pg_tables where schemaname = 'public'")
    expect(rows).toEqual([])
    await release()
    const next = run(settings)
    await readyUrl(next)
    expect(await endProgram(next)).toBe(0)
    await stopHost(dataDir)
  })

  test('replicas share one state; with a platform of the local runtime they do not', async () => {
    const releases = [
      await holdPlatformLock(database.url, silent, () => undefined, true),
      await holdPlatformLock(database.url, silent, () => undefined, true),
    ]
    await expect(holdPlatformLock(database.url, silent, () => undefined)).rejects.toMatchObject({
      lines: [
        'Another Quarterdeck with the Kubernetes runtime uses this state: stop it, or name another database in QUARTERDECK_STATE_URL',
      ],
    })
    for (const release of releases) await release()
    const release = await holdPlatformLock(database.url, silent, () => undefined)
    await expect(holdPlatformLock(database.url, silent, () => undefined, true)).rejects.toMatchObject({
      lines: [
        'Another Quarterdeck with the local runtime uses this state: stop it, or name another database in QUARTERDECK_STATE_URL',
      ],
    })
    await release()
  })

  const stateOf = async (client: Client, pid: number | undefined) =>
    (
      await client.query<{ state: string; backend_xmin: string | null }>(
        'select state, backend_xmin from pg_stat_activity where pid = $1',
        [pid],
      )
    ).rows[0]

  // A pooler in transaction mode (PgBouncer) assigns a connection to a client only while its transaction is open.
  test('the lock belongs to an open transaction, so that a connection pooler does not reassign it', async () => {
    const release = await holdPlatformLock(database.url, silent, () => undefined)
    const client = await connectTo()
    // Without a snapshot, which would block VACUUM.
    await until(
      async () => stateOf(client, await holderOf(client)),
      (state) => state?.state === 'idle in transaction' && state.backend_xmin === null,
    )
    await release()
    await until(async () => (await holderOf(client)) === undefined)
  })

  test('the lock survives the server’s time-out for idle transactions', async () => {
    const client = await connectTo()
    await client.query(
      `alter database ${new URL(database.url).pathname.slice(1)} set idle_in_transaction_session_timeout = '50ms'`,
    )
    const release = await holdPlatformLock(database.url, silent, () => undefined)
    const holder = await holderOf(client)
    await client.query('select pg_sleep(0.5)')
    expect(await holderOf(client)).toBe(holder)
    await release()
  })

  test('a lock whose connection breaks is acquired again', async () => {
    const lost = jest.fn()
    const release = await holdPlatformLock(database.url, silent, lost)
    const client = await connectTo()
    const before = await holderOf(client)
    await client.query('select pg_terminate_backend($1)', [before])
    await until(
      () => holderOf(client),
      (holder) => holder !== undefined && holder !== before,
    )
    expect(lost).not.toHaveBeenCalled()
    await release()
    expect(await holderOf(client)).toBeUndefined()
  })

  test('a lock whose connection the network has forgotten is acquired again when the server has ended that one', async () => {
    const { hostname, port } = new URL(database.url)
    const proxy = await breakableProxy({ host: hostname, port: Number(port) })
    const lost = jest.fn()
    const throughProxy = Object.assign(new URL(database.url), { hostname: '127.0.0.1', port: String(proxy.port) })
    const release = await holdPlatformLock(throughProxy.href, silent, lost)
    try {
      const client = await connectTo()
      const before = await holderOf(client)
      proxy.forgetConnections()
      await until(
        () => holderOf(client),
        (holder) => holder !== undefined && holder !== before,
      )
      await delay(2000)
      expect(lost).not.toHaveBeenCalled()
    } finally {
      await release()
      await proxy.close()
    }
  })

  test('a platform ends within seconds although it waits for a lock that was taken over', async () => {
    const release = await holdPlatformLock(database.url, silent, () => undefined)
    const client = await connectTo()
    const holder = await holderOf(client)
    const taken = client.query('select pg_advisory_lock(7230002)')
    await (await connectTo()).query('select pg_terminate_backend($1)', [holder])
    await taken
    await delay(1500)
    const begin = performance.now()
    await release()
    expect(performance.now() - begin).toBeLessThan(3000)
  })

  test('a platform whose lock was taken over while its connection was broken shuts down gracefully', async () => {
    const dataDir = join(directory(), 'taken-over')
    const platform = run({
      QUARTERDECK_DATA_DIR: dataDir,
      QUARTERDECK_STATE_URL: database.url,
      QUARTERDECK_SQL_URL: database.url,
    })
    await readyUrl(platform)
    const client = await connectTo()
    const holder = await holderOf(client)
    // Queued before the connection breaks, like the refused start of a second platform.
    const taken = client.query('select pg_advisory_lock(7230002)')
    await (await connectTo()).query('select pg_terminate_backend($1)', [holder])
    await taken
    expect(await platform.exited).toBe(1)
    expect(platform.output().stderr).toContain('another platform with the local runtime has taken over this state')
    await stopHost(dataDir)
  })
})
