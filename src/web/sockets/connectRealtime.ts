import { firstView, loadChunk } from '../chunks'
import type { RealtimeConnection, RealtimeListener } from './realtimeSocket'

/** Opens the real-time connection once the first page is shown. The client library is loaded after sign-in. */
export function connectRealtime(listener: RealtimeListener, origin = window.location.origin): RealtimeConnection {
  let connection: RealtimeConnection | undefined
  let isClosed = false
  firstView
    .then(() => loadChunk(() => import(/* webpackChunkName: 'socket' */ './openRealtime')))
    .then(
      ({ openRealtime }) => {
        if (!isClosed) connection = openRealtime(listener, origin)
      },
      () => isClosed || console.warn('[realtime] the socket client could not be loaded'),
    )
  return {
    connected: () => connection?.connected() ?? false,
    send: (message) => connection?.send(message),
    close() {
      isClosed = true
      connection?.close()
    },
  }
}
