import { IncomingMessage } from 'node:http'

/** Not a field, because the parent's constructor assigns `upgrade` before the fields of this class exist. */
const withUpgradeHeader = new WeakSet<IncomingMessage>()

/**
 * A request that asks for no other protocol than WebSocket: an offer of another one is ignored, and the request
 * answered as without it (RFC 9110 §7.8). Otherwise Node.js passes every such request to the listeners of `upgrade`,
 * which refuse it. The HTTP client of Java offers HTTP/2 (`Upgrade: h2c`) in its first request over an unencrypted
 * connection.
 */
export class UpgradableMessage extends IncomingMessage {
  /** Read by the server of Node.js once it has the headers. */
  get upgrade(): boolean {
    return (
      withUpgradeHeader.has(this) &&
      (this.method === 'CONNECT' || /(?:^|,)\s*websocket\s*(?:,|$)/i.test(this.headers.upgrade ?? ''))
    )
  }

  set upgrade(isOffered: boolean | null) {
    if (isOffered) withUpgradeHeader.add(this)
    else withUpgradeHeader.delete(this)
  }
}
