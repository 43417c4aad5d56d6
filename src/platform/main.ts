import { mkdir, readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import pino, { type Logger } from 'pino'
import { sql } from 'kysely'
import { createActivityLog } from './accounts/activityLog'
import { createCodeChecks } from './accounts/codeChecks'
import { createInvites } from './accounts/invites'
import { createOwnPassword } from './accounts/ownPassword'
import { createDownloadTickets } from './accounts/downloadTickets'
import { createRegistration } from './accounts/registration'
import { createSessions } from './accounts/sessions'
import { createSignIn } from './accounts/signIn'
import { createUsers } from './accounts/users'
import { createApp } from './app'
import { readSettings, type Settings } from './config'
import { createDatabases } from './databases/databases'
import type { DatabaseServer } from './databases/databaseServer'
import { createMongo } from './databases/mongo'
import { createPostgres } from './databases/postgres'
import { storedDefinition } from './deployments/definitions'
import { createDeployments } from './deployments/deployments'
import { createDiscovery } from './deployments/discovery'
import { instanceState, plainCommandsOf } from './deployments/instances'
import { createListeningSockets } from './deployments/listeningSockets'
import { startManager } from './deployments/manager'
import { createMetrics, sampleMetrics } from './deployments/metrics'
import { watchPlayers } from './deployments/players'
import { createPower } from './deployments/power'
import { makeSample } from './deployments/sample'
import { createUsageMeter } from './deployments/usageMeter'
import { AppError, errorCodeOf, StartError } from './errors'
import { createCluster } from './kubernetes/cluster'
import { createDashboard } from './kubernetes/dashboard'
import { acquireLock, lockOwner } from './processLock'
import { openRuntime } from './runtime/openRuntime'
import { openFiles } from './share/files'
import { watchDisks } from './share/disks'
import { createJail } from './share/jail'
import { createReplicas } from './share/replicas'
import { openShareMarker } from './share/shareMarker'
import { dropOldActivity } from './state/activity'
import { listDeployments } from './state/deployments'
import { openState, placeOf, type Place } from './state/db'
import { startEmbeddedPostgres, type EmbeddedPostgres } from './state/embeddedPostgres'
import { lastBeat } from './state/heartbeats'
import { holdPlatformLock } from './state/platformLock'
import { openSecrets } from './state/secrets'
import { dropExpired } from './state/sessions'
import { dropOldTries } from './state/tries'

const CLEAN_UP_MS = 10 * 60_000
/** So long the Kubernetes cluster may take. */
const CLUSTER_MS = 8000
/** The longest that an orderly end may take before the process ends anyhow. */
const CLOSE_TIMEOUT_MS = 10_000

/** How much of the log is kept while it cannot be written. In characters. */
const LOG_BUFFER = 2 ** 20

/** Everything that was opened, closed again in reverse order. */
type Closers = (() => Promise<unknown>)[]

/** @param onLost called when another platform has taken over the state. */
async function start(settings: Settings, log: Logger, closers: Closers, onLost: () => void): Promise<void> {
  const { dataDir, shareDir } = settings
  if (settings.runtime === 'kubernetes')
    throw new StartError(['QUARTERDECK_RUNTIME: this version runs instances as local processes only'])
  const isFirstStart = await prepareDirectories(settings)

  const postgres = settings.stateUrl === undefined ? await startEmbeddedPostgres(dataDir, log) : undefined
  if (postgres) closers.push(() => postgres.stop())
  const stateUrl = settings.stateUrl ?? postgres?.stateUrl ?? ''
  closers.push(await holdPlatformLock(stateUrl, log, onLost))
  const state = await openState(stateUrl)
  closers.push(() => state.close())
  const { db, pool } = state
  const secrets = await openSecrets(dataDir, db)
  const dataDirectories = async () =>
    (await listDeployments(db)).flatMap(({ content }) => storedDefinition(content).definition?.dataDirectory ?? [])
  const marker = await openShareMarker({ dataDir, shareDir, dataDirectories, log })
  // One that was used before and is missing is not made: that would be the place it is mounted at.
  if (!marker.isMade) await madeBy(shareDir, () => mkdir(shareDir, { recursive: true, mode: 0o700 }))
  const jail = createJail(shareDir, marker)
  await jail.root().catch((error: unknown) => {
    log.error(
      { err: error, shareDir },
      'the shared area is not mounted; if this is the right directory, make an empty file .quarterdeck-share in it',
    )
  })
  if (isFirstStart && settings.sample) await makeSample(db, shareDir)

  const replicas = createReplicas(dataDir, log, () => jail.root())
  closers.push(() => replicas.close())
  const files = await openFiles({ dataDir, shareDir, marker, log, now: Date.now })
  closers.push(() => files.close())
  const { runtime, whyPlain } = await openRuntime({ ...settings, replicas, writeBack: files.writeBack, log })
  closers.push(() => runtime.close())
  log.info(
    { isolation: runtime.isolation, limits: runtime.limits, whyPlain },
    `instances are ${runtime.isolation}; resource limits: ${runtime.limits}`,
  )
  const listening = createListeningSockets()
  const players = watchPlayers({
    db,
    runtime,
    listening,
    onChange: () => {
      manager.wake()
      discovery.changed()
    },
    now: Date.now,
  })
  closers.push(() => players.close())
  const discovery = createDiscovery({
    db,
    runtime,
    players: () => players,
    directory: join(dataDir, 'runtime/peers'),
    log,
  })
  closers.push(() => discovery.close())
  const manager = startManager({
    db,
    pool,
    runtime,
    players,
    listening,
    discovery,
    shareDir,
    marker,
    replicas,
    log,
    now: Date.now,
  })
  closers.push(() => manager.close())
  closers.push(sampleMetrics({ db, runtime, log, isActive: () => manager.isActive }))
  const nodes = async () => [hostname()]
  const disks = watchDisks(dataDir, shareDir, log)
  closers.push(async () => disks.close())
  const servers = {
    sql: sqlServer(settings, postgres, await placeOf(pool), log, closers),
    mongo: createMongo({ url: settings.mongoUrl, dataDir, path: process.env.PATH ?? '', secrets, log }),
  }
  closers.push(async () => void (await Promise.all([servers.sql.close(), servers.mongo.close()])))
  const databases = createDatabases({ db, pool, secrets, servers, log })
  void databases.start()

  const sessions = createSessions(db, secrets, Date.now)
  const registration = createRegistration(db, secrets, sessions, Date.now)
  const cluster =
    settings.cluster &&
    createCluster({ source: settings.cluster, role: settings.dashboardRole, timeoutMs: CLUSTER_MS, log })
  const dashboard = createDashboard({ db, secrets, cluster, host: settings.dashboardHost, log, now: Date.now })
  const cleanUp = setInterval(() => {
    void dashboard.sweep()
    Promise.all([dropExpired(db), dropOldTries(db), dropOldActivity(db)]).catch((error: unknown) =>
      log.warn({ err: error }, 'what has expired could not be removed'),
    )
  }, CLEAN_UP_MS)
  closers.push(async () => clearInterval(cleanUp))
  const activityLog = createActivityLog(db, log, Date.now)
  closers.push(() => activityLog.close())
  const codes = createCodeChecks({ db, secrets, activityLog, now: Date.now })

  const ownPorts = () => [
    { port: (app.server.address() as AddressInfo).port, owner: 'Quarterdeck itself' },
    ...(postgres ? [{ port: Number(new URL(postgres.adminUrl).port), owner: 'the embedded PostgreSQL' }] : []),
  ]
  const app: FastifyInstance = await createApp({
    log,
    sessions,
    registration,
    activityLog,
    ownPassword: createOwnPassword(db, codes),
    users: createUsers(db, () => void dashboard.sweep()),
    invites: createInvites(db, Date.now),
    dashboard,
    signIn: createSignIn(db, codes, sessions, Date.now),
    discovery,
    deployments: createDeployments({
      db,
      runtime,
      players,
      usage: createUsageMeter(runtime, Date.now),
      now: Date.now,
      shareDir,
      marker,
      nodes,
      ownPorts,
      wake: () => manager.wake(),
    }),
    databases,
    network: { managerTimestamp: () => lastBeat(db), nodes, disks: () => disks.list() },
    health: {
      database: async () => void (await sql`select 1`.execute(db)),
      runtime: async () => void (await runtime.list()),
      share: async () => void (await jail.root()),
    },
    replicas,
    files,
    tickets: createDownloadTickets(db, Date.now),
    uploadLimit: settings.uploadLimit,
    runtime,
    metrics: createMetrics(db),
    power: createPower({ db, runtime, wake: () => manager.wake() }),
    instanceState: (deployment, podName) => instanceState({ db, runtime }, deployment, podName),
    plainCommands: (deployment) => plainCommandsOf(db, deployment),
    webDir: join(__dirname, '../web'),
    origins: settings.origins,
    trustedProxies: settings.trustedProxies,
  })
  closers.push(() => app.close())
  const url = await listen(settings, () => app.listen({ host: settings.host, port: settings.port }))
  greet(url, await registration.firstInvite(settings.firstInvite), whyPlain)
}

/** Where users' databases are: the server of the setting, else the embedded one, which may run already for the state. */
function sqlServer(
  { sqlUrl, dataDir }: Settings,
  running: EmbeddedPostgres | undefined,
  state: Place | undefined,
  log: Logger,
  closers: Closers,
): DatabaseServer {
  if (sqlUrl !== undefined) {
    return createPostgres({
      url: async () => sqlUrl,
      title: 'The PostgreSQL server of QUARTERDECK_SQL_URL',
      remedy: 'Start it or correct the setting.',
      state,
      log,
    })
  }
  // What is for users' databases alone does not keep the platform from starting.
  const starting = running ? Promise.resolve(running) : startEmbeddedPostgres(dataDir, log)
  starting.catch((error: unknown) => log.error({ err: error }, 'the embedded PostgreSQL could not be started'))
  if (!running)
    closers.push(() =>
      starting.then(
        (postgres) => postgres.stop(),
        () => undefined,
      ),
    )
  const url = async () => {
    const postgres = await starting.catch(() => undefined)
    if (!postgres)
      throw new AppError(
        'UNAVAILABLE',
        'The embedded PostgreSQL could not be started. The log says why; QUARTERDECK_SQL_URL names another server.',
      )
    return postgres.adminUrl
  }
  return createPostgres({ url, title: 'The embedded PostgreSQL', remedy: 'It is started again by itself.', state, log })
}

/** @returns whether the data directory was empty: this is the first start. */
async function prepareDirectories({ dataDir }: Settings): Promise<boolean> {
  // PostgreSQL, which may run as somebody else, has to pass through; nobody has to look around.
  await madeBy(dataDir, () => mkdir(dataDir, { recursive: true, mode: 0o711 }))
  const isFirstStart = (await readdir(dataDir)).length === 0
  const lock = join(dataDir, 'platform.lock')
  if (!(await madeBy(dataDir, async () => acquireLock(lock)))) {
    const owner = lockOwner(lock)
    throw new StartError([
      `Quarterdeck runs already in ${dataDir} (${owner === undefined ? 'in another container or on another machine' : `process ${owner}`})`,
    ])
  }
  for (const path of [join(dataDir, 'instances'), join(dataDir, 'replica')])
    await madeBy(path, () => mkdir(path, { recursive: true, mode: 0o700 }))
  return isFirstStart
}

/** @throws StartError that names the directory when it cannot be made or written */
async function madeBy<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  return work().catch((error: unknown) => {
    if (error instanceof StartError) throw error
    throw new StartError([
      `The directory ${path} cannot be written (${errorCodeOf(error)}): make it writable or choose another one`,
    ])
  })
}

async function listen({ host, port }: Settings, begin: () => Promise<string>): Promise<string> {
  try {
    return await begin()
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'EADDRINUSE')
      throw new StartError([`Port ${port} on ${host} is in use: end what uses it or set QUARTERDECK_PORT`])
    if (code === 'EACCES')
      throw new StartError([`Port ${port} on ${host} may not be opened by this user: set QUARTERDECK_PORT`])
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new StartError([`${host} is not an address of this machine: correct QUARTERDECK_HOST`])
    throw error
  }
}

function greet(url: string, invite: string | undefined, whyPlain: string | undefined): void {
  console.log(`\n  Quarterdeck is ready: ${url}`)
  if (whyPlain !== undefined) {
    console.log(
      `\n  Instances are not isolated: they run as plain processes and may do what this user may do (${whyPlain}).`,
    )
    console.log('  Install runc, conmon and socat, or see "Isolation" in the README.')
  }
  if (invite !== undefined) {
    console.log(
      `\n  There are no users yet. Register the first administrator with this invite code:\n\n      ${invite}\n`,
    )
    console.log(`  or open ${url}/register?invite=${encodeURIComponent(invite)}\n`)
  } else {
    console.log('')
  }
}

/** JSON lines on standard error. A reader that goes away, or a full disk behind it, loses lines and nothing else. */
function openLog(level: string): Logger {
  const lost = () => undefined
  const destination = pino.destination({ fd: 2, sync: true, maxLength: LOG_BUFFER })
  destination.on('error', lost)
  for (const stream of [process.stdout, process.stderr]) stream.on('error', lost)
  return pino({ level }, destination)
}

async function main(): Promise<void> {
  const settings = readSettings(process.env)
  const log = openLog(settings.logLevel)
  const closers: Closers = []
  let closing: Promise<void> | undefined
  const close = () =>
    (closing ??= (async () => {
      for (const closer of closers.reverse())
        await closer().catch((error: unknown) => log.warn({ err: error }, 'a part could not be closed'))
    })())
  const end = (code: number) => {
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref()
    void close().then(() => process.exit(code))
  }
  process.on('SIGTERM', () => end(0))
  process.on('SIGINT', () => end(0))
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'an error was not handled'))
  // The last resort: nobody knows what state the process is in, so it ends, but in order. Instances go on with their host.
  process.on('uncaughtException', (error) => {
    // Another one, while it ends: the time-out above bounds what is left to do.
    if (closing) return log.fatal({ err: error }, 'another error was not handled')
    log.fatal({ err: error }, 'an error was not handled: the platform ends')
    end(1)
  })
  try {
    await start(settings, log, closers, () => end(1))
  } catch (error) {
    await close()
    throw error
  }
}

main().catch((error: unknown) => {
  if (error instanceof StartError) for (const line of error.lines) console.error(line)
  else console.error(`Quarterdeck could not start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})
