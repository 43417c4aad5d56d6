import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import { SINCE } from '../../contract/sockets/consoleChannel'
import type { InstanceState } from '../../contract/instance'
import { CLOSE_RIGHTS_CHANGED, CLOSE_SESSION_ENDED } from '../../contract/pageRules'
import type { ActivityLog } from '../accounts/activityLog'
import type { TrustedProxies } from '../accounts/clientAddress'
import { credentialOf, may, requireRight, type Caller } from '../caller'
import type { Callers } from '../accounts/callers'
import { noSession } from '../accounts/sessions'
import { createKeyedCounter } from '../concurrency/keyedCounter'
import { createKeyedLimit } from '../concurrency/keyedLimit'
import type { Power } from '../deployments/power'
import { AppError } from '../errors'
import type { Runtime } from '../runtime/runtime'
import { stateFailure } from '../state/db'
import { closeSocket } from './closeSocket'
import { createConsoleRecord } from './consoleRecord'
import { executeConsoleRequest } from './consoleRequests'
import { executeMessages, sendFeed, watchLiveness } from './consoleViewer'
import { closeTooFast, createByteCounter, RateLimitedServer } from './frameRate'
import { isAllowedOrigin, type AuthenticateHandshake } from './handshake'
import { watchSessions } from './sessionWatch'
import { broadcastStates } from './stateFrames'
import { WatchedInstances, type ViewerUser, type WatchedInstance } from './watchedInstances'

/**
 * Maximum bytes of a message: the longest command (contract/sockets/consoleChannel.ts), with six bytes for each
 * character that JSON escapes.
 */
const MESSAGE_LIMIT = 64 * 1024
/** RFC 6455 §7.4.1: the server is shutting down. */
const GOING_AWAY = 1001
/** Time for a peer to take the response to a refused upgrade. */
const REFUSAL_MS = 1000
/** Each viewer may have 1 MiB of unread data. A browser has one per tab. */
const MAX_VIEWERS_PER_USER = 100
/**
 * Consoles of a user whose lines are read at a time: to read a full one blocks the event loop for a twentieth of a
 * second.
 */
const MAX_OPENINGS_PER_USER = 2
/**
 * Requests of a user in bytes, at all their consoles: 32 of the longest commands, each of which is searched for secrets
 * several times. Together that takes a fraction of the second.
 */
const MAX_BYTES_PER_SECOND = 768 * 1024

export interface ConsoleParts {
  callers: Callers
  authenticate: AuthenticateHandshake
  origins: string[]
  proxies: TrustedProxies
  activityLog: Pick<ActivityLog, 'record'>
  runtime: Runtime
  power: Power
  /** The state of a deployment's instance; undefined if there is no such instance. */
  instanceState: (deployment: string, podName: string) => Promise<InstanceState | undefined>
  /** First words of commands that a deployment's definition calls harmless. */
  plainCommands: (deployment: string) => Promise<readonly string[]>
  /** Whether other platforms may have viewers of the same instances. */
  isReplica: boolean
}

/** The console channel, `/api/logs/{deployment}/{podName}`. Its `upgrade` listener ignores the path of socket.io. */
export function openConsoleChannel(
  app: FastifyInstance,
  {
    callers,
    authenticate,
    origins,
    proxies,
    activityLog,
    runtime,
    power,
    instanceState,
    plainCommands,
    isReplica,
  }: ConsoleParts,
): void {
  const wss = new RateLimitedServer({ noServer: true, maxPayload: MESSAGE_LIMIT, perMessageDeflate: false })
  const watched = new WatchedInstances(runtime)
  const records = createConsoleRecord(activityLog, plainCommands)
  const connectionCounts = createKeyedCounter<number>()
  const limitOpenings = createKeyedLimit<number>(MAX_OPENINGS_PER_USER)
  const isTooMuch = createByteCounter(MAX_BYTES_PER_SECOND)

  app.server.on('upgrade', (request, socket, head) => {
    if (request.url?.startsWith('/socket.io/')) return
    // From here on we own the socket, whose peer may disconnect at any time.
    socket.on('error', () => socket.destroy())
    upgrade(request, socket, head).catch((thrown: unknown) => {
      const error = stateFailure(thrown)
      const status = error instanceof AppError ? error.status : 500
      if (!(error instanceof AppError)) app.log.error({ err: error }, 'failed to open a console')
      refuse(socket, status)
    })
  })

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const target = targetOf(request.url ?? '')
    if (!target) throw new AppError('NOT_FOUND', 'There is no such channel.')
    if (!isAllowedOrigin(request, origins))
      throw new AppError('NOT_ALLOWED', 'Connections from this origin are not allowed.')
    const user = await authenticate(request)
    requireViewer(user, target.deployment)
    countConnection(socket, user.userId)
    const state = await instanceState(target.deployment, target.podName)
    if (!state) throw new AppError('NOT_FOUND', 'There is no such instance.')
    await limitOpenings(user.userId, async () => {
      if (socket.destroyed) return
      const instance = watched.watch(target.deployment, target.podName, state)
      instance.connecting += 1
      try {
        await instance.feed.ready
        // Sessions and rights are watched from here on. Those of the beginning may have ended while this waited.
        const present = await callers.present(credentialOf(user))
        if (!present) throw noSession()
        requireViewer(present, target.deployment)
        const viewerUser = { ...present, address: proxies.addressOf(request) }
        wss.handleUpgrade(request, socket, head, (viewer) => join(instance, viewer, viewerUser, target.since))
      } finally {
        instance.connecting -= 1
        watched.release(instance)
      }
    })
  }

  /** @throws AppError TOO_MANY_TRIES if the user has too many */
  function countConnection(socket: Duplex, userId: number): void {
    if (connectionCounts.get(userId) >= MAX_VIEWERS_PER_USER)
      throw new AppError('TOO_MANY_TRIES', 'You have too many consoles open. Close one and try again.')
    // The socket's `close` may have been emitted already.
    if (socket.destroyed) throw new AppError('INVALID_INPUT', 'The connection was closed.')
    connectionCounts.add(userId, 1)
    socket.once('close', () => connectionCounts.add(userId, -1))
  }

  function join(instance: WatchedInstance, viewer: WebSocket, user: ViewerUser, since: number | undefined): void {
    instance.viewers.set(viewer, user)
    sendFeed(viewer, instance.feed, may(user, 'console', instance.deployment) ? since : 'states')
    watchLiveness(viewer)
    viewer.on('message', (data: Buffer) => {
      if (isTooMuch(user.userId, data.length)) closeTooFast(viewer)
    })
    executeMessages(
      viewer,
      async (text) => {
        // The connection is closed soon after its session ends or rights change; a call is refused at once.
        const present = await callers.present(credentialOf(user))
        if (!present) throw noSession()
        await executeConsoleRequest(
          { runtime, power, records, isReplica },
          instance,
          { ...present, address: user.address },
          text,
        )
      },
      (thrown) => {
        const error = stateFailure(thrown)
        if (error instanceof AppError) return { code: error.code, message: error.message }
        app.log.error({ err: error, podName: instance.podName }, 'a console request failed')
        return { code: 'INTERNAL', message: 'The request failed. See the platform’s log for the reason.' }
      },
    )
    // The close event follows and does the cleanup.
    viewer.on('error', () => undefined)
    viewer.on('close', () => {
      instance.viewers.delete(viewer)
      watched.release(instance)
    })
  }

  const stopStates = broadcastStates(watched, runtime, instanceState)
  const unwatchSessions = watchSessions(
    callers,
    app.log,
    () => watched.viewers().map(([, user]) => user),
    (opened, isStillValid) => {
      for (const [viewer, user] of watched.viewers()) {
        if (user !== opened) continue
        if (isStillValid) closeSocket(viewer, CLOSE_RIGHTS_CHANGED, 'rights changed')
        else closeSocket(viewer, CLOSE_SESSION_ENDED, 'session ended')
      }
    },
  )
  app.addHook('preClose', async () => {
    stopStates()
    unwatchSessions()
    for (const [viewer] of watched.viewers()) viewer.close(GOING_AWAY, 'the platform is shutting down')
    for (const { feed } of watched.list()) feed.close()
    wss.close()
    await records.close()
  })
}

/**
 * A caller with the right `power` alone receives the instance's state, and no lines.
 * @throws AppError as `requireRight`
 */
function requireViewer(caller: Caller, deployment: string): void {
  if (!may(caller, 'power', deployment)) requireRight(caller, 'console', deployment)
}

interface Target {
  deployment: string
  podName: string
  since: number | undefined
}

/** Names are DNS labels: no decoding, dots or slashes. */
function targetOf(url: string): Target | undefined {
  const [path = '', query] = url.split('?')
  const match = /^\/api\/logs\/([a-z0-9-]{1,40})\/([a-z0-9-]{1,63})$/.exec(path)
  if (!match?.[1] || !match[2]) return undefined
  const since = new URLSearchParams(query).get(SINCE)
  return {
    deployment: match[1],
    podName: match[2],
    since: since !== null && /^[1-9]\d{0,14}$/.test(since) ? Number(since) : undefined,
  }
}

/** Answers and closes the connection even if the peer does not: after an upgrade the server's timeouts do not apply. */
function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
  setTimeout(() => socket.destroy(), REFUSAL_MS).unref()
}
