import { io } from 'socket.io-client'
import { REALTIME_EVENT } from '../../contract/pageRules'
import { basePath } from '../basePath'
import type { RealtimeConnection, RealtimeListener } from './realtimeSocket'

/** socket.io does not reconnect after the server has refused or closed the connection. */
const RETRY_MS = 5000

/**
 * Status of a refused long-polling request: 400 if the server has replicas, because a connection must stay at one of
 * them; 403 also if the user's places of long-polling are used up.
 */
const POLLING_REFUSED: unknown[] = [400, 403]

/** The reconnection of product §9. */
const options = {
  reconnection: true,
  reconnectionAttempts: Infinity,
  reconnectionDelay: 1000,
  reconnectionDelayMax: 5000,
  randomizationFactor: 0.5,
  timeout: 20_000,
  transports: ['polling', 'websocket', 'webtransport'],
}

/** Connects to the page's own origin. The browser sends the session's cookie, so no token is needed here. */
export function openRealtime(listener: RealtimeListener, origin: string): RealtimeConnection {
  let retry: ReturnType<typeof setTimeout> | undefined
  let isClosed = false
  let isPolling = true
  // `forceNew`: an earlier connection may belong to another user.
  const socket = io(origin, { ...options, ...(basePath() && { path: `${basePath()}/socket.io` }), forceNew: true })
  const reconnectLater = () => {
    if (!socket.active) retry = setTimeout(() => socket.connect(), RETRY_MS)
  }
  socket.on('connect', () => listener.connected())
  socket.on('disconnect', () => {
    if (isClosed) return
    listener.disconnected()
    reconnectLater()
  })
  socket.on('connect_error', (error?: Error & { description?: unknown }) => {
    if (socket.active && isPolling && POLLING_REFUSED.includes(error?.description)) {
      isPolling = false
      socket.io.opts.transports = ['websocket']
      // Runs after socket.io has scheduled its next attempt, which this replaces.
      retry = setTimeout(() => socket.disconnect().connect())
      return
    }
    listener.disconnected()
    reconnectLater()
  })
  socket.on(REALTIME_EVENT, (message: unknown) => listener.received(message))
  return {
    connected: () => socket.connected,
    send: (message) => void socket.emit(REALTIME_EVENT, message),
    close() {
      isClosed = true
      clearTimeout(retry)
      socket.off()
      socket.disconnect()
    },
  }
}
