import { z } from 'zod'
import { DeploymentName } from './deployment'
import { success } from './envelope'
import { InstanceState } from './instance'

/** A running instance as other instances see it. */
const Peer = z.object({
  podName: z.string(),
  ip: z.string(),
  port: z.number().int().nullable().describe('Null if its definition names no port.'),
  state: InstanceState,
  players: z.number().int().nonnegative().nullable().describe('Number of players; null if unknown.'),
  draining: z.boolean().describe('It is being drained: new players must not be sent there.'),
})

/** The file that QUARTERDECK_PEERS names, and the response of `GET /api/discovery` (decisions §14). */
export const Peers = z.object({
  deployments: z.record(z.string(), z.array(Peer)).describe('The running instances by deployment.'),
})
export type Peers = z.infer<typeof Peers>

export const PeersResponse = success(Peers)

/** `?deployment=lobby`; may be repeated. */
export const PeersQuery = z.strictObject({
  deployment: z
    .union([DeploymentName, z.array(DeploymentName).min(1).max(64)])
    .transform((names) => (Array.isArray(names) ? names : [names])),
})
