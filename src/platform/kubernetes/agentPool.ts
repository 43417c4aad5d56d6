import { Agent } from 'node:https'
import { createSecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'

/** An unused connection is closed after this time, before the server or a load balancer does it. */
const IDLE_MS = 10_000

/**
 * Creates a function that replaces the agents of the client library, which makes one for each request: requests with
 * the same TLS options then share connections, and new connections share their certificates in memory. A proxy's
 * agent is kept.
 */
export function createAgentPool(): <Given>(given: Given) => Given | Agent {
  let latest: { options: Agent['options']; agent: Agent } | undefined

  return (given) => {
    if (!isPlain(given)) return given
    const { options } = given
    // The certificates may be renewed.
    if (!latest || !isDeepStrictEqual(latest.options, options)) {
      const secureContext = createSecureContext(options)
      latest = { options, agent: new Agent({ ...options, secureContext, keepAlive: true, timeout: IDLE_MS }) }
    }
    return latest.agent
  }
}

const isPlain = (agent: unknown): agent is Agent => agent instanceof Agent && agent.constructor === Agent
