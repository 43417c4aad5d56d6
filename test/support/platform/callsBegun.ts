import { subscribe, unsubscribe } from 'node:diagnostics_channel'

const CHANNEL = 'tracing:fastify.request.handler:start'

/** Resolves when the handlers of so many calls have begun, of all platforms of this process. */
export function callsBegun(count: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0
    const onStart = () => {
      seen += 1
      if (seen < count) return
      unsubscribe(CHANNEL, onStart)
      resolve()
    }
    subscribe(CHANNEL, onStart)
  })
}
