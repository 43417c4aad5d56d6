import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { MANAGER_ALIVE_MS } from '../contract/pageRules'
import type { ActivityLog } from './accounts/activityLog'
import type { Callers } from './accounts/callers'
import type { Registration } from './accounts/registration'
import type { Sessions } from './accounts/sessions'
import { createApp, type App } from './app'
import { createRecentRead } from './concurrency/sharedRead'
import type { Settings } from './config'
import { openDataDirectory, requireDataOutsideShare, withWriteError } from './dataDirectory'
import { createDatabases } from './databases/databases'
import type { DatabaseServer } from './databases/databaseServer'
import { createMongo } from './databases/mongo/mongo'
import { createSqlServer } from './databases/sqlServer'
import { tryParseDefinition } from './deployments/definitions'
import { createDeployments, type Deployments } from './deployments/deployments'
import { instanceState, plainCommandsOf } from './deployments/instances'
import { createMetrics } from './deployments/monitoring/metrics'
import { createPower } from './deployments/power'
import { createSampleDeployment } from './deployments/sampleDeployment'
import { createUsageMeter } from './deployments/monitoring/usageMeter'
import { StartError } from './errors'
import type { Cluster } from './kubernetes/cluster'
import type { Dashboard } from './kubernetes/dashboard'
import { openAccounts } from './openAccounts'
import { runInstances } from './runInstances'
import { requireContact, silentSince } from './runtime/contact'
import { requireOwnRuns } from './runtime/copiedRuns'
import { requireNoEarlierRuns, requireVisibleRuns } from './runtime/replacedDirectory'
import type { Runtime } from './runtime/runtime'
import { watchDisks } from './share/disks'
import { openFiles, type Files } from './share/files'
import { createJail } from './share/jail'
import { createReplicas, type Replicas } from './share/replicas/replicas'
import { openShareMarker } from './share/shareMarker'
import { hasAdmin } from './state/accounts/users'
import {
  checkWritable,
  identifyDatabase,
  migrateState,
  openStateDatabase,
  type Db,
  type StateDatabase,
} from './state/db'
import { listDeployments } from './state/deployments/deployments'
import { postgresDirectories } from './postgres/embeddedPostgres'
import { startStatePostgres } from './postgres/statePostgres'
import { createUsersPostgres } from './postgres/usersPostgres'
import { watchClock } from './state/clockWatch'
import { createFileJobs, shareFileJobs } from './state/fileJobs'
import { findLastHeartbeat, isHeartbeatOlder } from './state/deployments/heartbeats'
import { createNotifications, openNotifications, type Notifications } from './state/notifications'
import { holdPlatformLock } from './state/locks/platformLock'
import { openReplicaLocks } from './state/locks/replicaLocks'
import { registerReplica } from './state/replicas'
import { openSecrets } from './state/secrets'
import { createStoredTemporaries } from './state/temporaries'
import type { Surroundings } from './surroundings'

/** Disks fill slowly, and each measurement accesses them. */
const DISKS_MAX_AGE_MS = 2000

export interface Platform extends App {
  state: StateDatabase
  runtime: Runtime
  replicas: Replicas
  sessions: Sessions
  callers: Callers
  registration: Registration
  activityLog: ActivityLog
  deployments: Deployments
  dashboard: Dashboard
  /** Whether other platforms may use the same state, and serve when this one ends. */
  isReplica: boolean
  /** Why instances are plain processes although containers were wanted. */
  plainReason: string | undefined
}

/** The parts that tests replace. Everything else is as in production. */
export interface Overrides {
  /** The clock of accounts (sessions, codes, invites, tickets), in milliseconds since the epoch. */
  now?: () => number
  /** The servers of users' databases. */
  sql?: DatabaseServer | undefined
  mongo?: DatabaseServer | undefined
  cluster?: Cluster | undefined
  /** Whether other platforms share the state. */
  isReplica?: boolean
  /** The name of the only node. */
  nodeName?: string
  /** Called once with the opened runtime. Returns the one that the platform uses. */
  wrapRuntime?: (runtime: Runtime) => Runtime
  /** Time for a JSON body to arrive, in milliseconds. */
  bodyMs?: number | undefined
  /** The directory of the built console. */
  webDir?: string
}

/**
 * Builds the whole platform: opens the state, the shared area and the runtime, and starts the manager. The caller
 * listens. Its parts are closed by `closers`, last one first; so are those of a start that fails halfway.
 * @throws StartError with lines for the operator
 */
export async function createPlatform(
  settings: Settings,
  surroundings: Surroundings,
  overrides: Overrides = {},
): Promise<Platform> {
  const { log, closers } = surroundings
  const isReplica = sharesState(settings, overrides)
  if (isReplica && settings.stateUrl === undefined)
    throw new StartError(['QUARTERDECK_STATE_URL: must name a database that all replicas of the platform share'])
  const directory = await openDataDirectory(settings.dataDir)
  closers.push(async () => directory.unlock())
  await surroundings.onLocked?.()
  await requireDataOutsideShare(settings.dataDir, settings.shareDir)
  requireOwnRuns(settings.dataDir)
  requireVisibleRuns(settings.dataDir)
  await requireNoEarlierRuns(settings.dataDir)

  const opened = await openState(settings, surroundings, isReplica)
  const { embedded, stateUrl, state, secrets, notifications } = opened
  const { db } = state

  const replica = isReplica ? await openReplica(stateUrl, surroundings, db, notifications) : undefined
  const share = await openShare(settings, surroundings, db, replica)
  // An earlier first start may have been killed. Before there are users, there are no deployments either.
  const isFirst = directory.wasEmpty || isReplica || !(await hasAdmin(db))
  if (isFirst && settings.sample) await createSampleDeployment(db, settings.shareDir)
  const running = await runInstances({
    settings,
    surroundings,
    state,
    share,
    notifications,
    isReplica,
    wrapRuntime: overrides.wrapRuntime,
  })
  const { runtime, wake } = running

  const servers = await openDatabaseServers(settings, surroundings, overrides, opened, isReplica)
  const databases = createDatabases({ db, pool: state.pool, secrets, servers, log })
  void databases.start()

  const { nodeName = hostname() } = overrides
  const nodes = async () => {
    const details = await runtime.nodes?.()
    if (!details) return { nodes: [nodeName] }
    return { nodes: details.filter(({ ready }) => ready).map(({ name }) => name), details }
  }
  const accounts = openAccounts(settings, surroundings, overrides, state, secrets, notifications, isReplica)
  const deployments = createDeployments({
    db,
    ...running,
    usage: createUsageMeter(runtime, Date.now),
    now: Date.now,
    shareDir: settings.shareDir,
    marker: share.marker,
    dataDirectories: share.dataDirectories,
    nodes: async () => (await nodes()).nodes,
    ownPorts: () => [
      ...portOf(app).map((port) => ({ port, owner: 'Quarterdeck itself' })),
      ...[embedded.port()].flatMap((port) => (port === undefined ? [] : [{ port, owner: 'the embedded PostgreSQL' }])),
    ],
    wake,
    announceRights: accounts.sessions.announceChange,
  })
  const { app, ending }: App = await createApp(
    {
      ...share,
      ...running,
      ...accounts,
      log,
      sync: running.sync,
      isReplica,
      uploadLimit: settings.uploadLimit,
      origins: settings.origins,
      trustedProxies: settings.trustedProxies,
      deployments,
      databases,
      network: {
        managerTimestamp: () => findLastHeartbeat(db),
        managerSilent: () => isHeartbeatOlder(db, MANAGER_ALIVE_MS),
        clusterSilentSince: () => silentSince(runtime),
        nodes,
        disks: () => share.disks.list(),
        disksWithoutRoom: createRecentRead(
          async () => (await share.disks.list()).filter(({ level }) => level !== 'ok'),
          DISKS_MAX_AGE_MS,
        ),
      },
      health: {
        database: () => checkWritable(db),
        runtime: async () => void (await runtime.list()),
        ...(runtime.lastContactAt !== undefined && { cluster: async () => requireContact(runtime) }),
        share: async () => void (await share.jail.root()),
      },
      metrics: createMetrics(db),
      power: createPower({ db, runtime, wake }),
      instanceState: (deployment, podName) => instanceState({ db, runtime }, deployment, podName),
      plainCommands: (deployment) => plainCommandsOf(db, deployment),
      basePath: settings.basePath,
      publicUrl: settings.publicUrl,
      webDir: overrides.webDir ?? join(__dirname, '../web'),
    },
    { bodyMs: overrides.bodyMs },
  )
  closers.push(() => app.close())
  return { app, ending, isReplica, state, deployments, ...share, ...running, ...accounts }
}

/** Whether other platforms may use the same state. */
function sharesState({ runtime }: Settings, { isReplica = runtime === 'kubernetes' }: Overrides): boolean {
  return isReplica
}

/** Opens the platform's own database, and starts its server if that is ours. */
async function openState(settings: Settings, { log, closers, onLost }: Surroundings, isReplica: boolean) {
  const { dataDir } = settings
  const embedded = createUsersPostgres(dataDir, log)
  closers.push(() => embedded.stop())
  const statePostgres =
    settings.stateUrl === undefined
      ? await startStatePostgres({ dataDir, users: embedded, migrate: migrateState, log })
      : undefined
  if (statePostgres) closers.push(() => statePostgres.stop())
  const stateUrl = settings.stateUrl ?? statePostgres?.url ?? ''
  closers.push(await holdPlatformLock(stateUrl, log, onLost, isReplica))
  const state = await openStateDatabase(stateUrl)
  closers.push(() => state.close())
  const { db } = state
  const stopClockWatch = watchClock({ db, log, now: Date.now })
  closers.push(async () => stopClockWatch())
  const secrets = await openSecrets(dataDir, db, isReplica)
  const notifications = isReplica ? await openNotifications(db, stateUrl, log) : createNotifications()
  closers.push(() => notifications.close())
  return { embedded, stateUrl, state, secrets, notifications }
}

/** The servers of users' databases. They start when they are needed. */
async function openDatabaseServers(
  { dataDir, sqlUrl, mongoUrl, programPath }: Settings,
  { log, closers }: Surroundings,
  overrides: Overrides,
  { embedded, state, secrets }: Awaited<ReturnType<typeof openState>>,
  isReplica: boolean,
) {
  const sql =
    overrides.sql ??
    createSqlServer({
      url: sqlUrl,
      embedded: isReplica ? undefined : embedded,
      state: await identifyDatabase(state.pool),
      log,
    })
  const mongo =
    overrides.mongo ?? createMongo({ url: mongoUrl, dataDir, path: isReplica ? '' : programPath, secrets, log })
  closers.push(async () => void (await Promise.all([sql.close(), mongo.close()])))
  return { sql, mongo }
}

/** Opens the parts through which replicas coordinate changes of files. */
async function openReplica(stateUrl: string, { log, closers }: Surroundings, db: Db, notifications: Notifications) {
  const self = await registerReplica(db, log)
  closers.push(() => self.close())
  const locks = openReplicaLocks(stateUrl)
  closers.push(() => locks.close())
  return {
    withLocks: locks.run,
    temporaries: createStoredTemporaries(db, self.id),
    shareJobs: (jobs: Files['jobs']) => shareFileJobs(jobs, { db, replica: self.id, notifications, log }),
  }
}

/** The shared area may be missing: its calls fail until it is mounted. */
async function openShare(
  { dataDir, shareDir }: Settings,
  { log, closers }: Surroundings,
  db: Db,
  replica: Awaited<ReturnType<typeof openReplica>> | undefined,
) {
  const dataDirectories = async () =>
    (await listDeployments(db)).flatMap(({ content }) => tryParseDefinition(content).definition?.dataDirectory ?? [])
  const marker = await openShareMarker({ dataDir, shareDir, dataDirectories, log })
  // A shared area that was used before is not created again: an empty directory would hide that it is not mounted.
  if (!marker.isInitialised) await withWriteError(shareDir, () => mkdir(shareDir, { recursive: true, mode: 0o700 }))
  const jail = createJail(shareDir, marker)
  await jail.root().catch((error: unknown) => {
    log.error(
      { err: error, shareDir },
      'the shared area is not mounted; mount it, or create an empty file .quarterdeck-share if this is the right directory',
    )
  })
  const replicas = createReplicas(dataDir, log, () => jail.root())
  closers.push(() => replicas.close())
  const mountedDirectories = async () =>
    (await listDeployments(db)).flatMap(({ directory_mounted, directory_seen }) =>
      directory_mounted && directory_seen !== null ? directory_seen : [],
    )
  const files = await openFiles({ dataDir, shareDir, marker, mountedDirectories, log, now: Date.now, replica })
  const fileJobs = replica?.shareJobs(files.jobs) ?? createFileJobs(files.jobs)
  closers.push(() => fileJobs.close())
  closers.push(() => files.close())
  const disks = watchDisks(dataDir, postgresDirectories(dataDir), shareDir, log)
  closers.push(async () => disks.close())
  return { marker, dataDirectories, jail, replicas, files, fileJobs, disks }
}

/** Empty until the app listens. */
function portOf(app: FastifyInstance): number[] {
  const address = app.server.address()
  return typeof address === 'object' && address ? [address.port] : []
}
