import type { IncomingMessage } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { Server, type Socket } from 'socket.io'
import { REALTIME_EVENT, ServerBound, type ClientBound } from '../../contract/realtime'
import type { Sessions } from '../accounts/sessions'
import type { Replicas, SyncNews } from '../share/replicas'
import type { SessionUser } from '../state/sessions'
import { countFrames, RateLimitedServer } from './frameRate'
import { cookieOf, isAllowedOrigin } from './handshake'
import { watchSessions, type Opened } from './sessionWatch'

/** Messages to the server are a few words. In bytes. */
const MESSAGE_LIMIT = 16 * 1024

/** What of an engine.io connection is needed here, by whatever transport. */
interface EngineConnection {
  request: IncomingMessage
  on(event: 'packet', listener: () => void): void
  once(event: 'close', listener: () => void): void
  /** @param discard what is not sent yet. */
  close(discard: boolean): void
}

export interface RealtimeParts {
  sessions: Sessions
  origins: string[]
  replicas: Pick<Replicas, 'state' | 'onSync'>
}

/** Open connections of one user. A browser has one for each tab. */
const MOST_OF_ONE = 100

/**
 * The real-time socket on the default path /socket.io: authorised by the `token` cookie, from the page's own origin,
 * greeted with CLIENT_HANDSHAKE, told whether the shared area is in sync, and closed when its session ends.
 */
export function openRealtime(app: FastifyInstance, { sessions, origins, replicas }: RealtimeParts): void {
  /** By handshake, for as long as engine.io keeps that. */
  const users = new WeakMap<IncomingMessage, SessionUser>()
  const openOf = new Map<number, number>()
  const io = new Server(app.server, {
    path: '/socket.io',
    serveClient: false,
    destroyUpgrade: false,
    maxHttpBufferSize: MESSAGE_LIMIT,
    wsEngine: RateLimitedServer,
    // Before engine.io opens a connection: what is refused, with a 403 for polling, costs no memory. Later requests of a connection do not come here.
    allowRequest: (request, decide) => {
      if (!isAllowedOrigin(request, origins)) return decide('ORIGIN', false)
      sessions.read(cookieOf(request, 'token')).then(
        (user) => {
          const isAllowed = (openOf.get(user.userId) ?? 0) < MOST_OF_ONE
          if (isAllowed) users.set(request, user)
          decide(isAllowed ? null : 'TOO_MANY', isAllowed)
        },
        () => decide('NO_SESSION', false),
      )
    },
  })
  io.engine.on('connection', (connection: EngineConnection) => {
    // Those of polling: one request may hold thousands. Of a websocket its frames are counted.
    const isTooFast = countFrames()
    connection.on('packet', () => {
      if (isTooFast()) connection.close(true)
    })
    const user = users.get(connection.request)
    if (!user) return
    openOf.set(user.userId, (openOf.get(user.userId) ?? 0) + 1)
    connection.once('close', () => {
      const left = (openOf.get(user.userId) ?? 0) - 1
      if (left > 0) openOf.set(user.userId, left)
      else openOf.delete(user.userId)
    })
  })
  io.use((socket, next) => {
    const user = users.get(socket.request)
    if (!user) return next(new Error('NO_SESSION'))
    const { sessionId, isAdmin } = user
    socket.data = { sessionId, isAdmin }
    next()
  })
  io.on('connection', (socket) => {
    const greeting: ClientBound = { id: 'CLIENT_HANDSHAKE', data: { hello: 'Quarterdeck' } }
    socket.emit(REALTIME_EVENT, greeting)
    socket.emit(REALTIME_EVENT, fileSync(replicas.state))
    socket.on(REALTIME_EVENT, (message: unknown) => {
      const result = ServerBound.safeParse(message)
      if (!result.success) app.log.debug('a real-time message that is not of the protocol was dropped')
    })
  })

  const unwatch = replicas.onSync((news) => io.emit(REALTIME_EVENT, fileSync(news)))
  const sockets = () => [...io.sockets.sockets.values()]
  const unwatchSessions = watchSessions(
    sessions,
    app.log,
    () => sockets().map(openedBy),
    (opened) => {
      for (const socket of sockets())
        if (isDeepStrictEqual(openedBy(socket), { sessionId: opened.sessionId, isAdmin: opened.isAdmin }))
          socket.disconnect(true)
    },
  )
  app.addHook('preClose', async () => {
    unwatchSessions()
    unwatch()
    // Not the server's own close, which waits for every connection, the consoles' too. To a client this is a loss: it comes back.
    io.engine.close()
  })
}

function fileSync(news: SyncNews): ClientBound {
  return { id: 'CLIENT_FILE_SYNC', data: news }
}

function openedBy({ data }: Socket): Opened {
  return data as Opened
}
