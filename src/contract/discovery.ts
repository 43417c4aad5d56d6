import { z } from 'zod'
import { DeploymentName } from './deployment'
import { success } from './envelope'
import { InstanceState } from './instance'

/** An instance that runs, as others of the network find it. */
const Peer = z.object({
  podName: z.string(),
  ip: z.string(),
  /** Where it listens; null: its definition names no port. */
  port: z.number().int().nullable(),
  state: InstanceState,
  /** How many play; null: unknown. */
  players: z.number().int().nonnegative().nullable(),
  /** It is emptied before it ends: send nobody there. */
  draining: z.boolean(),
})

/** The file that QUARTERDECK_PEERS names, and the answer of `GET /api/discovery` (decisions §14). */
export const Peers = z.object({
  /** By deployment, each with its instances that run. */
  deployments: z.record(z.string(), z.array(Peer)),
})
export type Peers = z.infer<typeof Peers>

export const PeersAnswer = success(Peers)

/** `?deployment=lobby`, also more than once. */
export const PeersQuery = z.strictObject({
  deployment: z
    .union([DeploymentName, z.array(DeploymentName).min(1).max(64)])
    .transform((names) => (Array.isArray(names) ? names : [names])),
})
