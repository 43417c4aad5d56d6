import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { generate } from 'otplib'
import pino, { type Logger } from 'pino'
import { createActivityLog, type ActivityLog } from '../../../src/platform/accounts/activityLog'
import { createCodeChecks } from '../../../src/platform/accounts/codeChecks'
import { createInvites } from '../../../src/platform/accounts/invites'
import { createOwnPassword } from '../../../src/platform/accounts/ownPassword'
import { createDownloadTickets } from '../../../src/platform/accounts/downloadTickets'
import { createRegistration, type Registration } from '../../../src/platform/accounts/registration'
import { createSessions, type Sessions } from '../../../src/platform/accounts/sessions'
import { createSignIn } from '../../../src/platform/accounts/signIn'
import { createUsers } from '../../../src/platform/accounts/users'
import { createApp } from '../../../src/platform/app'
import { createDatabases } from '../../../src/platform/databases/databases'
import type { DatabaseServer } from '../../../src/platform/databases/databaseServer'
import { createMongo } from '../../../src/platform/databases/mongo'
import { createPostgres } from '../../../src/platform/databases/postgres'
import { createDeployments, type Deployments } from '../../../src/platform/deployments/deployments'
import { createDiscovery } from '../../../src/platform/deployments/discovery'
import { instanceState, plainCommandsOf } from '../../../src/platform/deployments/instances'
import { createListeningSockets } from '../../../src/platform/deployments/listeningSockets'
import { startManager } from '../../../src/platform/deployments/manager'
import { createMetrics } from '../../../src/platform/deployments/metrics'
import { watchPlayers } from '../../../src/platform/deployments/players'
import { createPower } from '../../../src/platform/deployments/power'
import { createUsageMeter } from '../../../src/platform/deployments/usageMeter'
import type { Cluster } from '../../../src/platform/kubernetes/cluster'
import { createDashboard, type Dashboard } from '../../../src/platform/kubernetes/dashboard'
import { openLocalRuntime } from '../../../src/platform/runtime/local/localRuntime'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { openFiles } from '../../../src/platform/share/files'
import { watchDisks } from '../../../src/platform/share/disks'
import { createJail } from '../../../src/platform/share/jail'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas'
import { openShareMarker } from '../../../src/platform/share/shareMarker'
import { placeOf, type Db, type Place } from '../../../src/platform/state/db'
import { lastBeat } from '../../../src/platform/state/heartbeats'
import { openSecrets } from '../../../src/platform/state/secrets'
import { freshState, type FreshState } from './freshState'
import { stopHost } from './stopHost'

export interface Account {
  username: string
  password: string
  secret: string
  /** Of an open session. */
  token: string
}

export interface TestPlatform {
  app: FastifyInstance
  db: Db
  state: FreshState
  runtime: Runtime
  replicas: Replicas
  sessions: Sessions
  registration: Registration
  activityLog: ActivityLog
  deployments: Deployments
  dashboard: Dashboard
  dataDir: string
  logged: string[]
  /** What time it is for accounts, in milliseconds; a test may move it. */
  clock: { now: number }
  call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    options?: { body?: unknown; token?: string; address?: string; headers?: Record<string, string> },
  ): Promise<Answer>
  /** The code that an authenticator app shows now; each call moves the clock to the next code, for no code counts twice. */
  nextCode(secret: string): Promise<string>
  addInvite(code: string): Promise<void>
  /** Registers somebody through the three calls; the first one becomes administrator. */
  register(username: string, password?: string): Promise<Account>
  /** Signs in through the two calls. */
  signIn(account: Account): Promise<string>
  close(): Promise<void>
}

export interface Answer {
  status: number
  headers: Record<string, unknown>
  body: {
    success: boolean
    data: Record<string, unknown>
    code: string
    message: string
    error: string
    field?: string
  }
}

interface TestSettings {
  origins?: string[]
  cluster?: Cluster
  sql?: DatabaseServer
  mongo?: DatabaseServer
  uploadLimit?: number
  trustedProxies?: string[]
  /** Whether the platform takes its instances, plain processes, for contained ones. */
  claimsContained?: boolean
  /** Else one in a directory of its own. */
  dataDir?: string
  shareDir?: string
  /** How long a JSON body may take to arrive. In milliseconds. */
  bodyMs?: number
}

/** The whole platform on a database of its own, with real processes, without a port. */
export async function startPlatform({
  origins = [],
  cluster,
  sql,
  mongo,
  uploadLimit = 2 ** 30,
  trustedProxies = [],
  claimsContained = false,
  bodyMs,
  ...given
}: TestSettings = {}): Promise<TestPlatform> {
  const state = await freshState()
  const { db } = state
  const dataDir = given.dataDir ?? (await mkdtemp(join(tmpdir(), 'quarterdeck-data-')))
  const secrets = await openSecrets(dataDir, db)
  const silent = pino({ level: 'silent' })
  const shareDir = given.shareDir ?? join(dataDir, 'nfsshare')
  await mkdir(shareDir, { recursive: true })
  const dataDirectories = async () =>
    (await db.selectFrom('deployments').select('name').execute()).map(({ name }) => `/${name}`)
  const marker = await openShareMarker({ dataDir, shareDir, dataDirectories, log: silent })
  const jail = createJail(shareDir, marker)
  await jail.root()
  const replicas = createReplicas(dataDir, silent, () => jail.root())
  const runtime = await openLocalRuntime({ dataDir, replicas })
  const files = await openFiles({ dataDir, shareDir, marker, log: silent, now: Date.now })
  const nodes = async () => ['node-a']
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
  const discovery = createDiscovery({
    db,
    runtime,
    players: () => players,
    directory: join(dataDir, 'runtime/peers'),
    log: silent,
  })
  const manager = startManager({
    db,
    pool: state.pool,
    runtime,
    players,
    listening,
    discovery,
    shareDir,
    marker,
    replicas,
    log: silent,
    now: Date.now,
  })
  const disks = watchDisks(dataDir, shareDir, silent)
  const clock = { now: Date.now() }
  const now = () => clock.now
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })
  const sessions = createSessions(db, secrets, now)
  const registration = createRegistration(db, secrets, sessions, now)
  const deployments = createDeployments({
    db,
    runtime,
    players,
    usage: createUsageMeter(runtime, Date.now),
    now: Date.now,
    shareDir,
    marker,
    nodes,
    wake: () => manager.wake(),
  })
  const activityLog = createActivityLog(db, log, Date.now)
  const codes = createCodeChecks({ db, secrets, activityLog, now })
  const servers = {
    sql: sql ?? testPostgres({ state: await placeOf(state.pool), log }),
    mongo: mongo ?? createMongo({ url: undefined, dataDir, path: '', secrets, log }),
  }
  const dashboard = createDashboard({ db, secrets, cluster, host: 'https://dashboard.example', log, now })
  const app = await createApp(
    {
      log,
      databases: createDatabases({ db, pool: state.pool, secrets, servers, log }),
      sessions,
      registration,
      activityLog,
      ownPassword: createOwnPassword(db, codes),
      users: createUsers(db, () => void dashboard.sweep()),
      invites: createInvites(db, now),
      dashboard,
      signIn: createSignIn(db, codes, sessions, now),
      deployments,
      discovery,
      network: { managerTimestamp: () => lastBeat(db), nodes, disks: () => disks.list() },
      health: {
        database: async () => void (await lastBeat(db)),
        runtime: async () => void (await runtime.list()),
        share: async () => void (await jail.root()),
      },
      replicas,
      files,
      tickets: createDownloadTickets(db, now),
      uploadLimit,
      runtime: claimsContained ? (Object.create(runtime, { isolation: { value: 'contained' } }) as Runtime) : runtime,
      metrics: createMetrics(db),
      power: createPower({ db, runtime, wake: () => manager.wake() }),
      instanceState: (deployment, podName) => instanceState({ db, runtime }, deployment, podName),
      plainCommands: (deployment) => plainCommandsOf(db, deployment),
      webDir: join(dataDir, 'no-build'),
      origins,
      trustedProxies,
    },
    { bodyMs },
  )
  await app.ready()

  const platform: TestPlatform = {
    app,
    db,
    state,
    runtime,
    replicas,
    sessions,
    registration,
    activityLog,
    deployments,
    dashboard,
    dataDir,
    logged,
    clock,
    async call(method, url, { body, token, address = '127.0.0.1', headers = {} } = {}) {
      const request: InjectOptions = {
        method,
        url,
        remoteAddress: address,
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      }
      if (body !== undefined) {
        request.payload = typeof body === 'string' ? body : JSON.stringify(body)
        request.headers = { 'content-type': 'application/json', ...request.headers }
      }
      const answer = await app.inject(request)
      return { status: answer.statusCode, headers: answer.headers, body: answer.json<Answer['body']>() }
    },
    async nextCode(secret) {
      clock.now += 30_000
      return generate({ secret, epoch: Math.floor(clock.now / 1000) })
    },
    async addInvite(code) {
      await db
        .insertInto('invites')
        .values({ code, message: 'for a test', expires_at: new Date(clock.now + 7 * 86_400_000) })
        .execute()
    },
    async register(username, password = 'correct horse') {
      let inviteCode = await registration.firstInvite(undefined)
      if (inviteCode === undefined) await platform.addInvite((inviteCode = `invite-of-${username}`))
      const invited = await platform.call('POST', '/api/auth/verify-invite', { body: { inviteCode } })
      const inviteToken = invited.body.data.token
      const registered = await platform.call('POST', '/api/auth/register', {
        body: { username, password, inviteToken },
      })
      const secret = String(registered.body.data.secret)
      const code = await platform.nextCode(secret)
      const verified = await platform.call('POST', '/api/auth/verify-registration', {
        body: { username, token: code, inviteToken },
      })
      return { username, password, secret, token: String(verified.body.data.loginToken) }
    },
    async signIn({ username, password, secret }) {
      const first = await platform.call('POST', '/api/auth/login', { body: { username, password } })
      const second = await platform.call('POST', '/api/auth/verify-login', {
        body: { username, token: await platform.nextCode(secret), sessionToken: first.body.data.sessionToken },
      })
      return String(second.body.data.token)
    },
    async close() {
      await app.close()
      await activityLog.close()
      await Promise.all([servers.sql.close(), servers.mongo.close()])
      await manager.close()
      await discovery.close()
      await players.close()
      disks.close()
      await files.close()
      await replicas.close()
      await runtime.close()
      await stopHost(dataDir)
      await state.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  return platform
}

/** Users' databases on the run's PostgreSQL. */
export function testPostgres({
  url = process.env.TEST_POSTGRES_URL ?? '',
  state,
  log = pino({ level: 'silent' }),
}: { url?: string; state?: Place | undefined; log?: Logger } = {}): DatabaseServer {
  return createPostgres({
    url: async () => url,
    title: 'The PostgreSQL server of the tests',
    remedy: 'Start it.',
    state,
    log,
  })
}
