import { Agent } from 'node:https'
import { createSecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'

/** An idle connection is closed after this time, before the server or a load balancer closes it. */
const IDLE_MS = 10_000

/**
 * Shares connections to the API server between requests. The client library creates an agent for each request, with new
 * connections and its own copy of the certificates.
 * @returns a function that takes the agent of a request and returns the shared one for its TLS options. An agent of
 * another class, such as that of a proxy, is returned as it is.
 */
export function createAgentPool(): <Given>(given: Given) => Given | Agent {
  let latest: { options: Agent['options']; agent: Agent } | undefined

  return (given) => {
    if (!isPlainAgent(given)) return given
    const { options } = given
    // Certificates are renewed while the platform runs.
    if (!latest || !isDeepStrictEqual(latest.options, options)) {
      const secureContext = createSecureContext(options)
      latest = { options, agent: new Agent({ ...options, secureContext, keepAlive: true, timeout: IDLE_MS }) }
    }
    return latest.agent
  }
}

const isPlainAgent = (agent: unknown): agent is Agent => agent instanceof Agent && agent.constructor === Agent
