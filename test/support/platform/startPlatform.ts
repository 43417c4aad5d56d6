import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { generate } from 'otplib'
import pino from 'pino'
import { createRegistration, type Registration } from '../../../src/platform/accounts/registration'
import { createSessions } from '../../../src/platform/accounts/sessions'
import { createSignIn } from '../../../src/platform/accounts/signIn'
import { createApp } from '../../../src/platform/app'
import { createDeployments } from '../../../src/platform/deployments/deployments'
import { instanceState } from '../../../src/platform/deployments/instances'
import { startManager } from '../../../src/platform/deployments/manager'
import { createMetrics } from '../../../src/platform/deployments/metrics'
import { watchPlayers } from '../../../src/platform/deployments/players'
import { createPower } from '../../../src/platform/deployments/power'
import { createUsageMeter } from '../../../src/platform/deployments/usageMeter'
import { openLocalRuntime } from '../../../src/platform/runtime/local/localRuntime'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas'
import type { Db } from '../../../src/platform/state/db'
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
  registration: Registration
  dataDir: string
  logged: string[]
  /** What time it is for accounts, in milliseconds; a test may move it. */
  clock: { now: number }
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, options?: { body?: unknown; token?: string; address?: string; headers?: Record<string, string> }): Promise<Answer>
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
  body: { success: boolean; data: Record<string, unknown>; code: string; message: string; error: string; field?: string }
}

/** The whole platform on a database of its own, with real processes, without a port. */
export async function startPlatform({ origins = [] }: { origins?: string[] } = {}): Promise<TestPlatform> {
  const state = await freshState()
  const { db } = state
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-data-'))
  const secrets = await openSecrets(dataDir, db)
  const silent = pino({ level: 'silent' })
  const replicas = createReplicas(dataDir, silent)
  const runtime = await openLocalRuntime(dataDir, replicas)
  const shareDir = join(dataDir, 'nfsshare')
  await mkdir(shareDir)
  const nodes = async () => ['node-a']
  const players = watchPlayers(db, runtime, () => manager.wake())
  const manager = startManager({ db, pool: state.pool, runtime, players, shareDir, replicas, log: silent, now: Date.now })
  const clock = { now: Date.now() }
  const now = () => clock.now
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })
  const sessions = createSessions(db, secrets, now)
  const registration = createRegistration(db, secrets, sessions, now)
  const app = await createApp({
    log,
    sessions,
    registration,
    signIn: createSignIn(db, secrets, sessions, now),
    deployments: createDeployments({ db, runtime, players, usage: createUsageMeter(runtime, Date.now), now: Date.now, shareDir, nodes, wake: () => manager.wake() }),
    network: { managerTimestamp: () => lastBeat(db), nodes },
    health: { database: async () => void (await lastBeat(db)), runtime: async () => void (await runtime.list()) },
    replicas,
    runtime,
    metrics: createMetrics(db),
    power: createPower({ db, runtime, wake: () => manager.wake() }),
    instanceState: (deployment, podName) => instanceState({ db, runtime }, deployment, podName),
    webDir: join(dataDir, 'no-build'),
    origins,
    trustedProxies: [],
  })
  await app.ready()

  const platform: TestPlatform = {
    app, db, state, runtime, replicas, registration, dataDir, logged, clock,
    async call(method, url, { body, token, address = '127.0.0.1', headers = {} } = {}) {
      const request: InjectOptions = { method, url, remoteAddress: address, headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) } }
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
      await db.insertInto('invites').values({ code, message: 'for a test', expires_at: new Date(clock.now + 7 * 86_400_000) }).execute()
    },
    async register(username, password = 'correct horse') {
      let inviteCode = await registration.firstInvite(undefined)
      if (inviteCode === undefined) await platform.addInvite((inviteCode = `invite-of-${username}`))
      const invited = await platform.call('POST', '/api/auth/verify-invite', { body: { inviteCode } })
      const inviteToken = invited.body.data.token
      const registered = await platform.call('POST', '/api/auth/register', { body: { username, password, inviteToken } })
      const secret = String(registered.body.data.secret)
      const code = await platform.nextCode(secret)
      const verified = await platform.call('POST', '/api/auth/verify-registration', { body: { username, token: code, inviteToken } })
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
      await manager.close()
      await players.close()
      await replicas.close()
      await runtime.close()
      await stopHost(dataDir)
      await state.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  return platform
}
