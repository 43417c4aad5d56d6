import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { generate } from 'otplib'
import pino, { type Logger } from 'pino'
import type { ActivityLog } from '../../../src/platform/accounts/activityLog'
import type { Registration } from '../../../src/platform/accounts/registration'
import type { Callers } from '../../../src/platform/accounts/callers'
import type { Sessions } from '../../../src/platform/accounts/sessions'
import { readSettings, type Settings } from '../../../src/platform/config'
import { createPlatform, type Overrides } from '../../../src/platform/createPlatform'
import type { Closers } from '../../../src/platform/surroundings'
import type { DatabaseServer } from '../../../src/platform/databases/databaseServer'
import { createPostgres } from '../../../src/platform/databases/postgres'
import type { Deployments } from '../../../src/platform/deployments/deployments'
import type { Cluster } from '../../../src/platform/kubernetes/cluster'
import type { Dashboard } from '../../../src/platform/kubernetes/dashboard'
import type { Ending } from '../../../src/platform/http/ending'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import type { Replicas } from '../../../src/platform/share/replicas/replicas'
import type { Db, StateDatabase, DatabaseIdentity } from '../../../src/platform/state/db'
import { migratedDatabase } from './freshState'
import { stopHost } from './stopHost'

export interface Account {
  username: string
  password: string
  secret: string
  /** The token of an open session. */
  token: string
}

export interface TestPlatform {
  app: FastifyInstance
  db: Db
  state: StateDatabase & { url: string }
  runtime: Runtime
  replicas: Replicas
  sessions: Sessions
  callers: Callers
  registration: Registration
  activityLog: ActivityLog
  deployments: Deployments
  ending: Ending
  dashboard: Dashboard
  dataDir: string
  logged: string[]
  /** The clock for accounts in milliseconds, which a test may move. */
  clock: { now: number }
  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    options?: { body?: unknown; token?: string; address?: string; headers?: Record<string, string> },
  ): Promise<Answer>
  /**
   * The current code of an authenticator app; each call moves the clock to the next code, because a code is valid once.
   */
  nextCode(secret: string): Promise<string>
  addInvite(code: string): Promise<void>
  /** Registers a user through the three calls; the first one becomes administrator. */
  register(username: string, password?: string): Promise<Account>
  /** Signs in through the two calls. @returns the token */
  signIn(account: Account, from?: { address?: string; headers?: Record<string, string> }): Promise<string>
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
  /** Whether the platform treats its instances, which are plain processes, as contained. */
  claimsContained?: boolean
  /** Defaults to a new directory. */
  dataDir?: string
  shareDir?: string
  /** The time-out for a JSON body, in milliseconds. */
  bodyMs?: number
  /** Of the state, which others use too; else one of its own. */
  databaseUrl?: string
  sample?: boolean
  /** Further settings, as environment variables. */
  environment?: Record<string, string>
  /** As `createPlatform` has them. */
  overrides?: Overrides
}

/** Of a redirect. */
const noBody = {} as Answer['body']

/** Starts the whole platform on a separate database with real processes, without listening on a port. */
export async function startPlatform({
  origins,
  cluster,
  sql,
  mongo,
  uploadLimit = 2 ** 30,
  trustedProxies = [],
  claimsContained = false,
  bodyMs,
  ...given
}: TestSettings = {}): Promise<TestPlatform> {
  const { url, drop } =
    given.databaseUrl === undefined ? await migratedDatabase() : { url: given.databaseUrl, drop: async () => undefined }
  const dataDir = given.dataDir ?? (await mkdtemp(join(tmpdir(), 'quarterdeck-data-')))
  const shareDir = given.shareDir ?? join(dataDir, 'nfsshare')
  await mkdir(shareDir, { recursive: true })
  const clock = { now: Date.now() }
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })
  const closers: Closers = []
  const settings: Settings = {
    ...readSettings({
      QUARTERDECK_DATA_DIR: dataDir,
      QUARTERDECK_SHARE_DIR: shareDir,
      QUARTERDECK_STATE_URL: url,
      QUARTERDECK_SQL_URL: process.env.TEST_POSTGRES_URL,
      QUARTERDECK_ISOLATION: 'off',
      QUARTERDECK_SAMPLE: given.sample ? 'on' : 'off',
      QUARTERDECK_DASHBOARD_HOST: 'https://dashboard.example',
      ...given.environment,
    }),
    uploadLimit,
    ...(origins && { origins }),
    trustedProxies,
  }
  async function close(): Promise<void> {
    for (const closer of closers.reverse()) await closer()
    await stopHost(dataDir)
    await drop()
    await rm(dataDir, { recursive: true, force: true })
  }
  const built = await createPlatform(
    settings,
    { log, closers, onLost: () => undefined },
    {
      now: () => clock.now,
      nodeName: 'node-a',
      webDir: join(dataDir, 'no-build'),
      sql,
      mongo,
      cluster,
      bodyMs,
      ...(claimsContained && {
        wrapRuntime: (runtime) => Object.create(runtime, { isolation: { value: 'contained' } }) as Runtime,
      }),
      ...given.overrides,
    },
  ).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const { app, runtime, replicas, sessions, callers, registration, activityLog, deployments, dashboard, ending } = built
  const state = { ...built.state, url }
  const { db } = state
  // `inject` does not stop the write timeout of an empty response, which would keep Jest from exiting.
  app.addHook('onResponse', async (_request, { raw }) =>
    clearTimeout((raw as { timeoutHandle?: NodeJS.Timeout }).timeoutHandle),
  )
  await app.ready()

  const platform: TestPlatform = {
    app,
    db,
    state,
    runtime,
    replicas,
    sessions,
    callers,
    registration,
    activityLog,
    deployments,
    ending,
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
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: answer.body === '' ? noBody : answer.json<Answer['body']>(),
      }
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
    async signIn({ username, password, secret }, from) {
      const first = await platform.call('POST', '/api/auth/login', { body: { username, password }, ...from })
      const second = await platform.call('POST', '/api/auth/verify-login', {
        body: { username, token: await platform.nextCode(secret), sessionToken: first.body.data.sessionToken },
        ...from,
      })
      return String(second.body.data.token)
    },
    close,
  }
  return platform
}

/** Users' databases on the run's PostgreSQL. */
export function testPostgres({
  url = process.env.TEST_POSTGRES_URL ?? '',
  state,
  log = pino({ level: 'silent' }),
}: { url?: string; state?: DatabaseIdentity | undefined; log?: Logger } = {}): DatabaseServer {
  return createPostgres({
    url: async () => url,
    title: 'The PostgreSQL server of the tests',
    remedy: 'Start it.',
    state,
    log,
  })
}

/**
 * Starts a platform without accounts for the tests of a file, and closes it after them.
 * @param settings called before the start
 */
export function useEmptyPlatform(settings: () => TestSettings | Promise<TestSettings> = () => ({})) {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform(await settings())
  })
  afterAll(() => platform.close())
  return () => platform
}

/** Registers a user before the tests of a file. */
export function useAccount(platform: () => TestPlatform, username: string) {
  let account: Account
  beforeAll(async () => {
    account = await platform().register(username)
  })
  return () => account
}

/** As `useEmptyPlatform`, with an administrator of this name. */
export function usePlatform(username: string, settings?: () => TestSettings | Promise<TestSettings>) {
  const platform = useEmptyPlatform(settings)
  return { platform, account: useAccount(platform, username) }
}
