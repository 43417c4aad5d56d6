import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { Server, type Socket } from 'socket.io'
import { REALTIME_EVENT, ServerBound, type ClientBound } from '../../contract/realtime'
import type { Sessions } from '../accounts/sessions'
import type { Replicas, SyncNews } from '../share/replicas'
import { cookieOf, isAllowedOrigin } from './handshake'
import { watchSessions, type Opened } from './sessionWatch'

/** Messages to the server are a few words. In bytes. */
const MESSAGE_LIMIT = 16 * 1024

export interface RealtimeParts {
  sessions: Sessions
  origins: string[]
  replicas: Pick<Replicas, 'state' | 'onSync'>
}

/**
 * The real-time socket on the default path /socket.io: authorised by the `token` cookie, from the page's own origin,
 * greeted with CLIENT_HANDSHAKE, told whether the shared area is in sync, and closed when its session ends.
 */
export function openRealtime(app: FastifyInstance, { sessions, origins, replicas }: RealtimeParts): void {
  const io = new Server(app.server, {
    path: '/socket.io',
    serveClient: false,
    destroyUpgrade: false,
    maxHttpBufferSize: MESSAGE_LIMIT,
    // A refused handshake is a 403, for polling and websocket alike; who it is, is asked once it has passed.
    allowRequest: (request, decide) => {
      decide(null, isAllowedOrigin(request, origins))
    },
  })
  io.use((socket, next) => {
    sessions.read(cookieOf(socket.request, 'token')).then(
      ({ sessionId, isAdmin }) => {
        socket.data = { sessionId, isAdmin }
        next()
      },
      () => next(new Error('NO_SESSION')),
    )
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
  const unwatchSessions = watchSessions(sessions, app.log, () => sockets().map(openedBy), (opened) => {
    for (const socket of sockets()) if (isDeepStrictEqual(openedBy(socket), { sessionId: opened.sessionId, isAdmin: opened.isAdmin })) socket.disconnect(true)
  })
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
