import { WebSocket, WebSocketServer, type ServerOptions } from 'ws'
import { CLOSE_TOO_FAST } from '../../contract/pageRules'
import { closeSocket } from './closeSocket'

/** Messages and control frames together. Browsers send a few. */
const MAX_FRAMES_PER_SECOND = 50
/**
 * Bytes of unsent data. Consoles queue less than half of this, so a peer above it sends frames without reading the
 * responses.
 */
const MAX_UNSENT_BYTES = 2 * 2 ** 20

/** @returns a function that counts a frame, and returns whether it exceeds the limit of its second */
export function createFrameCounter(): () => boolean {
  let second = 0
  let count = 0
  return () => {
    const now = Math.floor(Date.now() / 1000)
    count = now === second ? count + 1 : 1
    second = now
    return count > MAX_FRAMES_PER_SECOND
  }
}

/**
 * @param limit bytes per second and user
 * @returns a function that counts the bytes of a user's message, and returns whether they exceed the limit of its
 * second
 */
export function createByteCounter(limit: number): (userId: number, bytes: number) => boolean {
  let second = 0
  const sums = new Map<number, number>()
  return (userId, bytes) => {
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) sums.clear()
    second = now
    const sum = (sums.get(userId) ?? 0) + bytes
    sums.set(userId, sum)
    return sum > limit
  }
}

/** Closes the connection of a peer that sends too much, and reads nothing more from it. */
export function closeTooFast(socket: WebSocket): void {
  closeSocket(socket, CLOSE_TOO_FAST, 'too many messages')
  socket.pause()
}

/**
 * A WebSocket that is closed when its peer sends too many frames in a second, including pings and pongs: processing
 * many small frames would take all of the platform's CPU time. It then stops reading. A peer that sends frames without
 * reading the responses is disconnected, because the responses would fill the memory.
 */
export class RateLimitedWebSocket extends WebSocket {
  /** Called by the server with an open connection. */
  constructor(address: null, protocols: undefined, options: object) {
    // @ts-expect-error: the types have only the clients' parameters; a server passes `options`.
    super(address, protocols, options)
    const isTooFast = createFrameCounter()
    const count = () => {
      if (this.bufferedAmount > MAX_UNSENT_BYTES) return this.terminate()
      if (this.readyState !== WebSocket.OPEN || !isTooFast()) return
      closeTooFast(this)
    }
    // Registered before any other listener.
    for (const event of ['message', 'ping', 'pong'] as const) this.on(event, count)
  }
}

/** For libraries that create their own server, such as engine.io. */
export class RateLimitedServer extends WebSocketServer {
  constructor(options: ServerOptions) {
    super({ ...options, WebSocket: RateLimitedWebSocket as unknown as typeof WebSocket })
  }
}
