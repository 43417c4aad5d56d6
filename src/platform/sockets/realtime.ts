import type { FastifyInstance } from 'fastify'
import { Server, type Socket } from 'socket.io'
import { REALTIME_EVENT, ServerBound, type ClientBound } from '../../contract/realtime'
import type { Sessions } from '../accounts/sessions'
import type { Replicas, SyncEvent } from '../share/replicas'
import { cookieOf, isAllowedOrigin } from './handshake'

/** How soon a socket is closed after its session has ended, whichever replica ended it. In milliseconds. */
const SESSION_CHECK_MS = 2000
/** Messages to the server are a few words. In bytes. */
const MESSAGE_LIMIT = 16 * 1024

export interface RealtimeParts {
  sessions: Sessions
  origins: string[]
  replicas: Pick<Replicas, 'isSynced' | 'onSync'>
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
      ({ sessionId }) => {
        socket.data = { sessionId }
        next()
      },
      () => next(new Error('NO_SESSION')),
    )
  })
  io.on('connection', (socket) => {
    const greeting: ClientBound = { id: 'CLIENT_HANDSHAKE', data: { hello: 'Quarterdeck' } }
    socket.emit(REALTIME_EVENT, greeting)
    socket.emit(REALTIME_EVENT, fileSync(replicas.isSynced ? 'sync_completed' : 'sync_started'))
    socket.on(REALTIME_EVENT, (message: unknown) => {
      const result = ServerBound.safeParse(message)
      if (!result.success) app.log.debug('a real-time message that is not of the protocol was dropped')
    })
  })

  const unwatch = replicas.onSync((event) => io.emit(REALTIME_EVENT, fileSync(event)))
  const check = setInterval(() => {
    closeEnded(io, sessions).catch((error: unknown) => app.log.warn({ err: error }, 'the sessions of sockets could not be checked'))
  }, SESSION_CHECK_MS)
  app.addHook('preClose', async () => {
    clearInterval(check)
    unwatch()
    await io.close()
  })
}

function fileSync(event: SyncEvent): ClientBound {
  return { id: 'CLIENT_FILE_SYNC', data: { event } }
}

async function closeEnded(io: Server, sessions: Sessions): Promise<void> {
  const sockets: Socket[] = [...io.sockets.sockets.values()]
  const idOf = ({ data }: Socket) => (data as { sessionId: string }).sessionId
  const live = await sessions.live([...new Set(sockets.map(idOf))])
  for (const socket of sockets) if (!live.has(idOf(socket))) socket.disconnect(true)
}
