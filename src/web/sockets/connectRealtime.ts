import { firstView, loadChunk } from '../chunks'
import type { RealtimeConnection, RealtimeListener } from './realtimeSocket'

/** Opens the real-time connection once the first page is shown. The client library is loaded after sign-in. */
export function connectRealtime(listener: RealtimeListener, origin = window.location.origin): RealtimeConnection {
  let connection: RealtimeConnection | undefined
  let closed = false
  firstView
    .then(() => loadChunk(() => import(/* webpackChunkName: 'socket' */ './openRealtime')))
    .then(
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
