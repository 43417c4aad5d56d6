import { WebSocket, WebSocketServer, type ServerOptions } from 'ws'
import { CLOSE_TOO_FAST } from '../../contract/consoleChannel'

/** Of messages and control frames together. People and browsers send a few. */
const MOST_A_SECOND = 50
/** How long the peer has to answer the close. In milliseconds. */
const CLOSE_MS = 1000

/** @returns a function that counts one more, and says whether that is one too many in its second. */
export function countFrames(): () => boolean {
  let second = 0
  let count = 0
  return () => {
    const now = Math.floor(Date.now() / 1000)
    count = now === second ? count + 1 : 1
    second = now
    return count > MOST_A_SECOND
  }
}

/**
 * A websocket that is closed when its peer sends too many frames in a second, pings and pongs included: small ones cost more than they
 * weigh, and a peer that sends them without end would take all of the platform's time. Nothing more is read of it then.
 */
export class RateLimitedWebSocket extends WebSocket {
  /** As its server calls it: the connection is made already. */
  constructor(address: null, protocols: undefined, options: object) {
    // @ts-expect-error: the types name only what clients give; a server's own call has `options`.
    super(address, protocols, options)
    const isTooFast = countFrames()
    const count = () => {
      if (this.readyState !== WebSocket.OPEN || !isTooFast()) return
      this.close(CLOSE_TOO_FAST, 'too many messages')
      this.pause()
      setTimeout(() => this.terminate(), CLOSE_MS).unref()
    }
    // Before any listener of who uses it.
    for (const event of ['message', 'ping', 'pong'] as const) this.on(event, count)
  }
}

/** For what makes a server of its own, as engine.io does. */
export class RateLimitedServer extends WebSocketServer {
  constructor(options: ServerOptions) {
    super({ ...options, WebSocket: RateLimitedWebSocket as unknown as typeof WebSocket })
  }
}
