import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import {
  CLOSE_RIGHTS_CHANGED,
  CLOSE_SESSION_ENDED,
  ConsoleRequest,
  SINCE,
  type ConsoleFrame,
} from '../../contract/consoleChannel'
import type { InstanceState } from '../../contract/instance'
import { looksSecret } from '../../contract/secretCommands'
import type { ActivityLog } from '../accounts/activityLog'
import type { TrustedProxies } from '../accounts/clientAddress'
import type { Sessions } from '../accounts/sessions'
import type { Power } from '../deployments/power'
import { AppError } from '../errors'
import type { Runtime } from '../runtime/runtime'
import { stateFailure } from '../state/db'
import type { SessionUser } from '../state/sessions'
import { ConsoleFeed } from './consoleFeed'
import { createConsoleRecord } from './consoleRecord'
import { RateLimitedServer } from './frameRate'
import { cookieOf, isAllowedOrigin } from './handshake'
import { watchSessions } from './sessionWatch'

/** What comes first on a new connection (decisions §6). */
const HISTORY_LINES = 1000
/** Takes the longest command (contract/consoleChannel.ts), also where JSON writes each of its characters as six. In bytes. */
const MESSAGE_LIMIT = 64 * 1024
/** Whoever does not answer a ping until the next is gone, whatever lies between. In milliseconds. */
const PING_MS = 30_000
/** RFC 6455, 7.4.1: the server goes down. */
const GOING_AWAY = 1001
/** How long a peer has to answer a close. In milliseconds. */
const CLOSE_MS = 1000
/** So many messages of a viewer wait for the one before them at the most: a call of the state may take seconds. */
const MOST_WAITING = 100
/** A state may also change without the runtime: an instance that is blocked. In milliseconds. */
const STATE_CHECK_MS = 1000

export interface ConsoleParts {
  sessions: Sessions
  origins: string[]
  proxies: TrustedProxies
  activityLog: Pick<ActivityLog, 'record'>
  runtime: Runtime
  power: Power
  /** The state of a deployment's instance; undefined when there is no such one. */
  instanceState: (deployment: string, podName: string) => Promise<InstanceState | undefined>
  /** First words of commands that a deployment's definition calls harmless. */
  plainCommands: (deployment: string) => Promise<readonly string[]>
}

/** Who looks, and from where. */
type Who = SessionUser & { address: string }

/** An instance with viewers. */
interface Watched {
  deployment: string
  feed: ConsoleFeed
  viewers: Map<WebSocket, Who>
  /** How many are on their way in. */
  coming: number
  state: InstanceState | undefined
}

/** The console channel, `/api/logs/{deployment}/{podName}`. One `upgrade` listener: socket.io has its own path. */
export function openConsoleChannel(
  app: FastifyInstance,
  { sessions, origins, proxies, activityLog, runtime, power, instanceState, plainCommands }: ConsoleParts,
): void {
  const wss = new RateLimitedServer({ noServer: true, maxPayload: MESSAGE_LIMIT, perMessageDeflate: false })
  const watched = new Map<string, Watched>()
  const records = createConsoleRecord(activityLog, plainCommands)

  app.server.on('upgrade', (request, socket, head) => {
    if (request.url?.startsWith('/socket.io/')) return
    // From here on the socket is ours, and a peer may go at any moment.
    socket.on('error', () => socket.destroy())
    upgrade(request, socket, head).catch((thrown: unknown) => {
      const error = stateFailure(thrown)
      const status = error instanceof AppError ? error.status : 500
      if (!(error instanceof AppError)) app.log.error({ err: error }, 'a console could not be opened')
      refuse(socket, status)
    })
  })

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const target = targetOf(request.url ?? '')
    if (!target) throw new AppError('NOT_FOUND', 'There is no such channel.')
    if (!isAllowedOrigin(request, origins)) throw new AppError('NOT_ALLOWED', 'Another origin.')
    const who = { ...(await sessions.read(cookieOf(request, 'token'))), address: proxies.addressOf(request) }
    const state = await instanceState(target.deployment, target.podName)
    if (!state) throw new AppError('NOT_FOUND', 'There is no such instance.')
    const entry = watch(target, state)
    entry.coming += 1
    try {
      await entry.feed.ready
      wss.handleUpgrade(request, socket, head, (viewer) => join(entry, target, viewer, who))
    } finally {
      entry.coming -= 1
      leave(entry, target.podName)
    }
  }

  /** The feed ends with its last viewer. */
  function leave(entry: Watched, podName: string): void {
    if (entry.viewers.size > 0 || entry.coming > 0 || watched.get(podName) !== entry) return
    watched.delete(podName)
    entry.feed.close()
  }

  function watch({ deployment, podName }: Target, state: InstanceState): Watched {
    const entry = watched.get(podName) ?? {
      deployment,
      feed: new ConsoleFeed(runtime, podName),
      viewers: new Map(),
      coming: 0,
      state,
    }
    watched.set(podName, entry)
    return entry
  }

  function join(entry: Watched, { podName, since }: Target, viewer: WebSocket, who: Who): void {
    entry.viewers.set(viewer, who)
    const detach = entry.feed.attach(
      {
        get bufferedAmount() {
          return viewer.bufferedAmount
        },
        send: (text, taken) => viewer.send(text, taken),
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
    // One by one: a command that saves the world is written before the stop that was asked for after it.
    let obeyed: Promise<void> = Promise.resolve()
    let waiting = 0
    viewer.on('message', (data) => {
      if (waiting >= MOST_WAITING)
        return say(viewer, 'That was not done: too much still waits for what was asked for before.')
      waiting += 1
      obeyed = obeyed
        .then(async () => {
          // What was on its way when the connection was ended is not obeyed any more.
          if (viewer.readyState === viewer.OPEN) await obey(entry, podName, who, (data as Buffer).toString())
        })
        .catch((thrown: unknown) => {
          const error = stateFailure(thrown)
          if (!(error instanceof AppError)) app.log.error({ err: error, podName }, 'a console request failed')
          say(viewer, error instanceof AppError ? error.message : 'That did not work.')
        })
        .finally(() => (waiting -= 1))
    })
    // The close that follows says all there is to do.
    viewer.on('error', () => undefined)
    viewer.on('close', () => {
      clearInterval(ping)
      detach()
      entry.viewers.delete(viewer)
      leave(entry, podName)
    })
  }

  /** Does what a viewer asks for, and records it either way. */
  async function obey(entry: Watched, podName: string, who: Who, text: string): Promise<void> {
    const request = ConsoleRequest.safeParse(parseJson(text)).data
    if (!request) throw new AppError('INVALID_INPUT', 'The console did not understand that.')
    const record = (succeeded: boolean) =>
      records.add({
        username: who.username,
        address: who.address,
        deployment: entry.deployment,
        podName,
        request,
        succeeded,
      })
    try {
      if (request.type === 'power') await power.request(podName, request.action)
      else await type(entry, podName, who, request.command)
    } catch (error) {
      record(false)
      throw error
    }
    record(true)
  }

  async function type(entry: Watched, podName: string, who: Who, command: string): Promise<void> {
    const isRunning = (await runtime.list()).some((run) => run.podName === podName && run.state !== 'EXITED')
    if (!isRunning) throw new AppError('CONFLICT', 'The instance is not running.')
    if (new Set([...entry.viewers.values()].map(({ userId }) => userId)).size > 1) {
      // Dim, as an aside: several people are at this console.
      await runtime.note(podName, `\u001b[2m${who.username}: ${showable(command).replaceAll(/\p{Cc}/gu, ' ')}\u001b[0m`)
    }
    const isTaken = await runtime.write(podName, command.replaceAll(/[\r\n\0]/g, ' '))
    if (!isTaken) throw new AppError('CONFLICT', 'The instance does not read its input.')
  }

  async function tellStates(): Promise<void> {
    for (const [podName, entry] of watched) {
      const state = await instanceState(entry.deployment, podName)
      if (state === undefined || state === entry.state) continue
      entry.state = state
      entry.feed.tell({ type: 'power', content: state })
    }
  }
  let isChecking = false
  let checkAgain = false
  /** One look at a time: the answer to an earlier one must not be told after that to a later one. */
  const checkStates = () => {
    checkAgain = isChecking
    if (isChecking) return
    isChecking = true
    // The state may be away for a moment; the next check comes soon.
    void tellStates()
      .catch(() => undefined)
      .finally(() => {
        isChecking = false
        if (checkAgain) checkStates()
      })
  }

  const viewersOf = (): [WebSocket, Who][] => [...watched.values()].flatMap(({ viewers }) => [...viewers])
  const timer = setInterval(checkStates, STATE_CHECK_MS)
  const unwatch = runtime.watch(checkStates)
  const unwatchSessions = watchSessions(
    sessions,
    app.log,
    () => viewersOf().map(([, who]) => who),
    (opened, livesOn) => {
      for (const [viewer, who] of viewersOf()) {
        if (who.sessionId !== opened.sessionId || who.isAdmin !== opened.isAdmin) continue
        if (livesOn) end(viewer, CLOSE_RIGHTS_CHANGED, 'rights changed')
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

/** A command as others may see it; of one that looks like it holds a secret, no more than that. */
function showable(command: string): string {
  return looksSecret(command) ? '(not shown: it looks like it holds a secret)' : command
}

interface Target {
  deployment: string
  podName: string
  since: number | undefined
}

/** Names are labels: nothing that needs decoding, no dots, no slashes. */
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

/** Answers, and closes the connection whether the peer closes its side or not: no time-out of the HTTP server applies after an upgrade. */
function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
  setTimeout(() => socket.destroy(), CLOSE_MS).unref()
}

/** Closes politely, and at once for a peer that does not answer. */
function end(viewer: WebSocket, code: number, reason: string): void {
  viewer.close(code, reason)
  setTimeout(() => viewer.terminate(), CLOSE_MS).unref()
}

function say(viewer: WebSocket, message: string): void {
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
