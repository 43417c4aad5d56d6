import type { WebSocket } from 'ws'

/** Time for a peer to answer a close. */
const CLOSE_TIMEOUT_MS = 1000

/** Closes with a handshake, and terminates a peer that does not answer. */
export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason)
  setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref()
}
