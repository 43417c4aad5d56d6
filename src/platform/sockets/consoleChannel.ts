import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import { ConsoleRequest, SINCE, type ConsoleFrame } from '../../contract/consoleChannel'
import type { InstanceState } from '../../contract/instance'
import { CLOSE_RIGHTS_CHANGED, CLOSE_SESSION_ENDED } from '../../contract/pageRules'
import { looksSecret } from '../../contract/secrets/secretCommands'
import type { ActivityLog } from '../accounts/activityLog'
import type { TrustedProxies } from '../accounts/clientAddress'
import type { Sessions } from '../accounts/sessions'
import type { Power } from '../deployments/power'
import { AppError } from '../errors'
import type { Runtime } from '../runtime/runtime'
import { toAppError } from '../state/db'
import type { SessionUser } from '../state/sessions'
import { ConsoleFeed } from './consoleFeed'
import { createConsoleRecord } from './consoleRecord'
import { RateLimitedServer } from './frameRate'
import { cookieOf, isAllowedOrigin } from './handshake'
import { watchSessions } from './sessionWatch'

/** The lines sent to a new connection (decisions §6). */
const HISTORY_LINES = 1000
/** In bytes. The longest command (contract/consoleChannel.ts) with each character escaped by JSON as six. */
const MESSAGE_LIMIT = 64 * 1024
/** A viewer that does not answer a ping until the next one is disconnected. */
const PING_MS = 30_000
/** RFC 6455 §7.4.1: the server is shutting down. */
const GOING_AWAY = 1001
/** Time for a peer to answer a close. */
const CLOSE_MS = 1000
/** Limit of a viewer's queued messages. Each is executed after the one before, which may take seconds. */
const MAX_QUEUED_MESSAGES = 100
/** The interval for state changes that the runtime does not report: an instance that is blocked. */
const STATE_CHECK_MS = 1000

export interface ConsoleParts {
  sessions: Sessions
  origins: string[]
  proxies: TrustedProxies
  activityLog: Pick<ActivityLog, 'record'>
  runtime: Runtime
  power: Power
  /** The state of a deployment's instance; undefined if there is no such instance. */
  instanceState: (deployment: string, podName: string) => Promise<InstanceState | undefined>
  /** First words of commands that a deployment's definition calls harmless. */
  plainCommands: (deployment: string) => Promise<readonly string[]>
}

type ViewerUser = SessionUser & { address: string }

/** An instance with viewers. */
interface WatchedInstance {
  deployment: string
  feed: ConsoleFeed
  viewers: Map<WebSocket, ViewerUser>
  /** Connections that are being opened. */
  connecting: number
  state: InstanceState | undefined
}

/** The console channel, `/api/logs/{deployment}/{podName}`. Its `upgrade` listener ignores the path of socket.io. */
export function openConsoleChannel(
  app: FastifyInstance,
  { sessions, origins, proxies, activityLog, runtime, power, instanceState, plainCommands }: ConsoleParts,
): void {
  const wss = new RateLimitedServer({ noServer: true, maxPayload: MESSAGE_LIMIT, perMessageDeflate: false })
  const watched = new Map<string, WatchedInstance>()
  const records = createConsoleRecord(activityLog, plainCommands)

  app.server.on('upgrade', (request, socket, head) => {
    if (request.url?.startsWith('/socket.io/')) return
    // From here on we own the socket, whose peer may disconnect at any time.
    socket.on('error', () => socket.destroy())
    upgrade(request, socket, head).catch((thrown: unknown) => {
      const error = toAppError(thrown)
      const status = error instanceof AppError ? error.status : 500
      if (!(error instanceof AppError)) app.log.error({ err: error }, 'a console could not be opened')
      refuse(socket, status)
    })
  })

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const target = targetOf(request.url ?? '')
    if (!target) throw new AppError('NOT_FOUND', 'There is no such channel.')
    if (!isAllowedOrigin(request, origins)) throw new AppError('NOT_ALLOWED', 'Another origin.')
    const user = { ...(await sessions.authenticate(cookieOf(request, 'token'))), address: proxies.addressOf(request) }
    const state = await instanceState(target.deployment, target.podName)
    if (!state) throw new AppError('NOT_FOUND', 'There is no such instance.')
    const entry = watch(target, state)
    entry.connecting += 1
    try {
      await entry.feed.ready
      wss.handleUpgrade(request, socket, head, (viewer) => join(entry, target, viewer, user))
    } finally {
      entry.connecting -= 1
      leave(entry, target.podName)
    }
  }

  /** Closes the feed after its last viewer. */
  function leave(entry: WatchedInstance, podName: string): void {
    if (entry.viewers.size > 0 || entry.connecting > 0 || watched.get(podName) !== entry) return
    watched.delete(podName)
    entry.feed.close()
  }

  function watch({ deployment, podName }: Target, state: InstanceState): WatchedInstance {
    const entry = watched.get(podName) ?? {
      deployment,
      feed: new ConsoleFeed(runtime, podName),
      viewers: new Map(),
      connecting: 0,
      state,
    }
    watched.set(podName, entry)
    return entry
  }

  function join(entry: WatchedInstance, { podName, since }: Target, viewer: WebSocket, user: ViewerUser): void {
    entry.viewers.set(viewer, user)
    const detach = entry.feed.attach(
      {
        get bufferedAmount() {
          return viewer.bufferedAmount
        },
        send: (text, onSent) => viewer.send(text, onSent),
      },
      since,
      HISTORY_LINES,
    )
    let isAlive = true
    const ping = setInterval(() => {
      if (!isAlive) return viewer.terminate()
      isAlive = false
      viewer.ping()
    }, PING_MS)
    viewer.on('pong', () => (isAlive = true))
    // In order: a command that saves the world must be written before the stop that follows it.
    let queue: Promise<void> = Promise.resolve()
    let queued = 0
    viewer.on('message', (data) => {
      if (queued >= MAX_QUEUED_MESSAGES)
        return sendNotice(viewer, 'That was not done: too much still waits for what was asked for before.')
      queued += 1
      queue = queue
        .then(async () => {
          // Messages received before the connection was ended are not executed.
          if (viewer.readyState === viewer.OPEN) await execute(entry, podName, user, (data as Buffer).toString())
        })
        .catch((thrown: unknown) => {
          const error = toAppError(thrown)
          if (!(error instanceof AppError)) app.log.error({ err: error, podName }, 'a console request failed')
          sendNotice(viewer, error instanceof AppError ? error.message : 'That did not work.')
        })
        .finally(() => (queued -= 1))
    })
    // The close event follows and does the cleanup.
    viewer.on('error', () => undefined)
    viewer.on('close', () => {
      clearInterval(ping)
      detach()
      entry.viewers.delete(viewer)
      leave(entry, podName)
    })
  }

  /** Executes a viewer's request and records whether it succeeded. */
  async function execute(entry: WatchedInstance, podName: string, user: ViewerUser, text: string): Promise<void> {
    const request = ConsoleRequest.safeParse(parseJson(text)).data
    if (!request) throw new AppError('INVALID_INPUT', 'The console did not understand that.')
    const record = (succeeded: boolean) =>
      records.add({
        username: user.username,
        address: user.address,
        deployment: entry.deployment,
        podName,
        request,
        succeeded,
      })
    try {
      if (request.type === 'power') await power.request(podName, request.action)
      else await sendCommand(entry, podName, user, request.command)
    } catch (error) {
      record(false)
      throw error
    }
    record(true)
  }

  async function sendCommand(
    entry: WatchedInstance,
    podName: string,
    user: ViewerUser,
    command: string,
  ): Promise<void> {
    const isShared = new Set([...entry.viewers.values()].map(({ userId }) => userId)).size > 1
    if (isShared && entry.state !== 'STOPPED' && entry.state !== 'BLOCKED') {
      // Tells the other viewers who sent the command, dimmed.
      await runtime.note(
        podName,
        `\u001b[2m${user.username}: ${showable(command).replaceAll(/\p{Cc}/gu, ' ')}\u001b[0m`,
      )
    }
    if (await runtime.write(podName, command.replaceAll(/[\r\n\0]/g, ' '))) return
    const isRunning = (await runtime.list()).some((run) => run.podName === podName && run.state !== 'EXITED')
    throw new AppError('CONFLICT', isRunning ? 'The instance does not read its input.' : 'The instance is not running.')
  }

  async function sendChangedStates(): Promise<void> {
    for (const [podName, entry] of watched) {
      const state = await instanceState(entry.deployment, podName)
      if (state === undefined || state === entry.state) continue
      entry.state = state
      entry.feed.broadcast({ type: 'power', content: state })
    }
  }
  let isChecking = false
  let checkAgain = false
  /** Serializes the checks, so that an older state is never sent after a newer one. */
  const checkStates = () => {
    checkAgain = isChecking
    if (isChecking) return
    isChecking = true
    // The database may be unavailable for a moment. The next check follows soon.
    void sendChangedStates()
      .catch(() => undefined)
      .finally(() => {
        isChecking = false
        if (checkAgain) checkStates()
      })
  }

  const viewersOf = (): [WebSocket, ViewerUser][] => [...watched.values()].flatMap(({ viewers }) => [...viewers])
  const timer = setInterval(checkStates, STATE_CHECK_MS)
  const unwatch = runtime.watch(checkStates)
  const unwatchSessions = watchSessions(
    sessions,
    app.log,
    () => viewersOf().map(([, user]) => user),
    (opened, isStillValid) => {
      for (const [viewer, user] of viewersOf()) {
        if (user.sessionId !== opened.sessionId || user.isAdmin !== opened.isAdmin) continue
        if (isStillValid) end(viewer, CLOSE_RIGHTS_CHANGED, 'rights changed')
        else end(viewer, CLOSE_SESSION_ENDED, 'session ended')
      }
    },
  )
  app.addHook('preClose', async () => {
    clearInterval(timer)
    unwatch()
    unwatchSessions()
    for (const [viewer] of viewersOf()) viewer.close(GOING_AWAY, 'the platform is being stopped')
    for (const { feed } of watched.values()) feed.close()
    wss.close()
    await records.close()
  })
}

/** Hides a command that looks like it contains a secret from other viewers. */
function showable(command: string): string {
  return looksSecret(command) ? '(not shown: it looks like it holds a secret)' : command
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
  setTimeout(() => socket.destroy(), CLOSE_MS).unref()
}

/** Closes with a handshake, and terminates a peer that does not answer. */
function end(viewer: WebSocket, code: number, reason: string): void {
  viewer.close(code, reason)
  setTimeout(() => viewer.terminate(), CLOSE_MS).unref()
}

function sendNotice(viewer: WebSocket, message: string): void {
  const frame: ConsoleFrame = { type: 'system', content: `[System] ${message}` }
  if (viewer.readyState === viewer.OPEN) viewer.send(JSON.stringify(frame))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
