import { loadChunk } from '../chunks'
import type { RealtimeConnection, RealtimeListener } from './realtimeSocket'

/** Opens the real-time connection. The client library is a chunk of its own, loaded after sign-in. */
export function connectRealtime(listener: RealtimeListener, origin = window.location.origin): RealtimeConnection {
  let connection: RealtimeConnection | undefined
  let closed = false
  loadChunk(() => import(/* webpackChunkName: 'socket' */ './openRealtime')).then(
    ({ openRealtime }) => {
      if (!closed) connection = openRealtime(listener, origin)
    },
    () => closed || console.warn('[realtime] the socket client could not be loaded'),
  )
  return {
    connected: () => connection?.connected() ?? false,
    send: (message) => connection?.send(message),
    close() {
      closed = true
      connection?.close()
    },
  }
}
