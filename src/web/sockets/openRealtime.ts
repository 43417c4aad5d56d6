import { io } from 'socket.io-client'
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

/** Connects to the page's own origin. The browser adds the session's cookie to each attempt anew, so nothing here holds a token. */
export function openRealtime(listener: RealtimeListener, origin: string): RealtimeConnection {
  let retry: ReturnType<typeof setTimeout> | undefined
  let closed = false
  // Not shared with an earlier connection, which may have belonged to somebody else.
  const socket = io(origin, { ...options, forceNew: true })
  const tryAgain = () => {
    if (!socket.active) retry = setTimeout(() => socket.connect(), RETRY_MS)
  }
  socket.on('connect', () => listener.connected())
  socket.on('disconnect', () => {
    if (closed) return
    listener.disconnected()
    tryAgain()
  })
  socket.on('connect_error', () => {
    listener.disconnected()
    tryAgain()
  })
  socket.on(EVENT, (message: unknown) => listener.received(message))
  return {
    connected: () => socket.connected,
    send: (message) => void socket.emit(EVENT, message),
    close() {
      closed = true
      clearTimeout(retry)
      socket.off()
      socket.disconnect()
    },
  }
}
