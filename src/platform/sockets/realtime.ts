import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Server, type Socket } from 'socket.io'
import { ServerBound, type ClientBound } from '../../contract/sockets/realtime'
import { REALTIME_EVENT } from '../../contract/pageRules'
import { isRestricted, type Caller } from '../caller'
import type { Callers } from '../accounts/callers'
import { createKeyedCounter } from '../concurrency/keyedCounter'
import type { SyncSource, SyncState } from '../share/replicas/replicas'
import { createFrameCounter, RateLimitedServer } from './frameRate'
import { isAllowedOrigin, type AuthenticateHandshake } from './handshake'
import { watchSessions } from './sessionWatch'

/** In bytes. Messages to the server are short. */
const MESSAGE_LIMIT = 16 * 1024

/** The part of an engine.io connection that is used here, for any transport. */
interface EngineConnection {
  request: IncomingMessage
  on(event: 'packet', listener: () => void): void
  once(event: 'close', listener: () => void): void
  /** @param discard drops unsent data */
  close(discard: boolean): void
}

export interface RealtimeParts {
  callers: Callers
  authenticate: AuthenticateHandshake
  origins: string[]
  sync: SyncSource
  /** Whether the next request of a client may reach another platform. */
  isReplica: boolean
}

/**
 * Per user, of those begun by long-polling and of those begun as WebSockets. A browser has one connection per tab.
 * Without TLS, images of another page of the same site can begin long-polling with the user's cookie, and must not use
 * up the places of WebSockets.
 */
const MAX_CONNECTIONS_PER_USER = 100

/**
 * The real-time socket at /socket.io. It is authorised by the `token` cookie and the page's origin, sends
 * CLIENT_HANDSHAKE and the sync state of the shared area, and is closed when its session ends.
 */
export function openRealtime(
  app: FastifyInstance,
  { callers, authenticate, origins, sync, isReplica }: RealtimeParts,
): void {
  /** Keyed by the handshake request, which engine.io keeps for the connection. */
  const users = new WeakMap<IncomingMessage, Caller>()
  /** The open connections. A client may leave socket.io's namespace and join it again over the same connection. */
  const connections = new Map<EngineConnection, Caller>()
  const connectionCounts = createKeyedCounter<string>()
  /** Functions that give back the place of a handshake that was allowed, or of its connection. */
  const places = new WeakMap<IncomingMessage, () => void>()

  /**
   * Counts a handshake before its connection is open, because many may be decided at once.
   * @returns whether its user may have a further connection
   */
  function takePlace(request: IncomingMessage, { userId }: Caller): boolean {
    const { socket, headers } = request
    const kind = `${headers.upgrade === undefined ? 'polling' : 'websocket'} ${userId}`
    // The `close` of a destroyed one may have been emitted already.
    if (socket.destroyed || connectionCounts.get(kind) >= MAX_CONNECTIONS_PER_USER) return false
    connectionCounts.add(kind, 1)
    const giveBack = () => {
      if (!places.delete(request)) return
      socket.off('close', giveBack)
      connectionCounts.add(kind, -1)
    }
    places.set(request, giveBack)
    socket.once('close', giveBack)
    return true
  }

  const io = new Server(app.server, {
    path: '/socket.io',
    serveClient: false,
    destroyUpgrade: false,
    // Long-polling requests belong to a connection that only one replica knows; the others would answer 400.
    ...(isReplica && { transports: ['websocket'] as const }),
    maxHttpBufferSize: MESSAGE_LIMIT,
    wsEngine: RateLimitedServer,
    // Runs before engine.io opens a connection, so that a refused client (403 for polling) costs no memory. It is not
    // called for later requests of a connection.
    allowRequest: (request, decide) => {
      if (!isAllowedOrigin(request, origins) || asksForScript(request)) return decide('ORIGIN', false)
      authenticate(request).then(
        (user) => {
          if (user.key && !user.key.scopes.has('files')) return decide('NOT_ALLOWED', false)
          const isAllowed = takePlace(request, user)
          if (isAllowed) users.set(request, user)
          decide(isAllowed ? null : 'TOO_MANY', isAllowed)
        },
        () => decide('NO_SESSION', false),
      )
    },
  })
  io.engine.on('connection', (connection: EngineConnection) => {
    // Counts the packets of polling, where one request may hold thousands. A WebSocket counts its frames.
    const isTooFast = createFrameCounter()
    connection.on('packet', () => {
      if (isTooFast()) connection.close(true)
    })
    const user = users.get(connection.request)
    if (!user) return
    connections.set(connection, user)
    const giveBack = places.get(connection.request)
    // By polling, a connection goes on after the socket of its handshake.
    if (giveBack) connection.request.socket.off('close', giveBack)
    connection.once('close', () => {
      connections.delete(connection)
      giveBack?.()
    })
  })
  // A handshake that was allowed, but not understood.
  io.engine.on('connection_error', ({ req }: { req: IncomingMessage }) => places.get(req)?.())
  io.use((socket, next) => {
    const user = users.get(socket.request)
    if (!user) return next(new Error('NO_SESSION'))
    socket.data = user
    next()
  })
  io.on('connection', (socket) => {
    const greeting: ClientBound = { id: 'CLIENT_HANDSHAKE', data: { hello: 'Quarterdeck' } }
    socket.emit(REALTIME_EVENT, greeting)
    socket.emit(REALTIME_EVENT, syncMessage(sync.state, callerOf(socket)))
    socket.on(REALTIME_EVENT, (message: unknown) => {
      const result = ServerBound.safeParse(message)
      if (!result.success) app.log.debug('dropped a real-time message that does not follow the protocol')
    })
  })

  const sockets = () => [...io.sockets.sockets.values()]
  const unwatch = sync.onSync((news) => {
    for (const socket of sockets())
      if (!isRestricted(callerOf(socket))) socket.emit(REALTIME_EVENT, syncMessage(news, callerOf(socket)))
  })
  const unwatchSessions = watchSessions(
    callers,
    app.log,
    () => [...connections.values()],
    (opened) => {
      for (const [connection, user] of connections) {
        if (user !== opened) continue
        const socket = sockets().find(({ conn }) => (conn as EngineConnection) === connection)
        // Notifies a client that has joined. If it does not read that, the next check closes its connection.
        if (socket) socket.disconnect(true)
        else connection.close(true)
      }
    },
  )
  app.addHook('preClose', async () => {
    unwatchSessions()
    unwatch()
    // Not io.close(), which would wait for every connection, consoles included. Clients reconnect as after a loss.
    io.engine.close()
  })
}

/**
 * Whether engine.io would answer with a script (JSONP). A page may embed scripts of any origin: browsers send no
 * `Origin` for them, without TLS nothing else that tells, and the cookie if the page is of the same site. The URL is
 * parsed as engine.io parses it: in a query, a further `?` is an ordinary character.
 */
function asksForScript({ url = '' }: IncomingMessage): boolean {
  return new URL(url, 'http://host').searchParams.has('j')
}

/** The state is that of all directories. From it, a restricted caller would learn when those of others change. */
function syncMessage(state: SyncState, caller: Caller): ClientBound {
  return { id: 'CLIENT_FILE_SYNC', data: isRestricted(caller) ? { event: 'sync_completed' } : state }
}

function callerOf({ data }: Socket): Caller {
  return data as Caller
}
