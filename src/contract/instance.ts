import { z } from 'zod'
import { success } from './envelope'

export const INSTANCE_STATES = ['STARTING', 'RUNNING', 'BLOCKED', 'STOPPING', 'STOPPED'] as const
export const InstanceState = z.enum(INSTANCE_STATES)
export type InstanceState = z.infer<typeof InstanceState>

/** `process` for container process, `minecraft` for container mc. */
export const InstanceType = z.enum(['process', 'minecraft'])
export type InstanceType = z.infer<typeof InstanceType>

export const Instance = z.object({
  uid: z.string(),
  /** `<6 hex>-<deployment>`. */
  name: z.string(),
  description: z.string().optional(),
  /** The name of the deployment it belongs to. */
  deployment: z.string(),
  /** Unique, and stable for the instance's life. */
  podName: z.string(),
  ip: z.string(),
  /** Player uuid to player name. Present for container mc only. */
  players: z.record(z.string(), z.string()).optional(),
  state: InstanceState,
  type: InstanceType,
  /** Open connections of players. */
  connections: z.number().int().nonnegative(),
  /** Text such as `3h 12m`; `0s` when offline. */
  uptime: z.string(),
  /** Percent of the instance's limit (of the host, without one), 0 to 100. */
  cpu: z.number().min(0).max(100),
  /** GiB. */
  memory: z.object({ used: z.number().nonnegative(), total: z.number().nonnegative() }),
})
export type Instance = z.infer<typeof Instance>

export const InstancesAnswer = success(z.object({ instances: z.array(Instance) }))
export type InstancesAnswer = z.infer<typeof InstancesAnswer>
