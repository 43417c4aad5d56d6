import type { Socket } from 'socket.io-client'
import type { RealtimeConnection, RealtimeListener } from './fileSyncSocket'

/** The event that carries every message (contract/realtime.ts, which would bring zod along at run time). */
const EVENT = 'message'
/** After a refusal or a kick socket.io itself does not try again. In milliseconds. */
const RETRY_MS = 5000

/** Product §9. */
const options = {
  reconnection: true,
  reconnectionAttempts: Infinity,
  reconnectionDelay: 1000,
  reconnectionDelayMax: 5000,
  randomizationFactor: 0.5,
  timeout: 20_000,
  transports: ['polling', 'websocket', 'webtransport'],
}

/**
 * Connects to the page's own origin. The browser adds the session's cookie to each attempt anew, so nothing here
 * holds a token. The library is a chunk of its own that only signed-in users load.
 */
export function connectRealtime(listener: RealtimeListener, origin = window.location.origin): RealtimeConnection {
  let socket: Socket | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let closed = false

  const open = async () => {
    const { io } = await import(/* webpackChunkName: 'socket' */ 'socket.io-client')
    if (closed) return
    // Not shared with an earlier connection, which may have belonged to somebody else.
    const opened = io(origin, { ...options, forceNew: true })
    const tryAgain = () => {
      if (!opened.active) retry = setTimeout(() => opened.connect(), RETRY_MS)
    }
    opened.on('connect', () => listener.connected())
    opened.on('disconnect', () => {
      if (closed) return
      listener.disconnected()
      tryAgain()
    })
    opened.on('connect_error', tryAgain)
    opened.on(EVENT, (message: unknown) => listener.received(message))
    socket = opened
  }
  open().catch(() => {
    if (!closed) console.warn('[realtime] the socket client could not be loaded')
  })

  return {
    connected: () => socket?.connected ?? false,
    send: (message) => void socket?.emit(EVENT, message),
    close() {
      closed = true
      clearTimeout(retry)
      socket?.off()
      socket?.disconnect()
    },
  }
}
