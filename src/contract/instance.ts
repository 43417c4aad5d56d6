import { z } from 'zod'
import { success } from './envelope'
import { INSTANCE_STATES } from './pageRules'
import { MetricPoint } from './metric'

export const InstanceState = z.enum(INSTANCE_STATES)
export type InstanceState = z.infer<typeof InstanceState>

/** `process` for container process, `minecraft` for container mc. */
export const InstanceType = z.enum(['process', 'minecraft'])
export type InstanceType = z.infer<typeof InstanceType>

export const LastExit = z.object({
  code: z.number().int().nullable(),
  signal: z.string().nullable(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Shown to the user. */
  reason: z.string(),
})
export type LastExit = z.infer<typeof LastExit>

export const Instance = z.object({
  uid: z.string(),
  /** `<6 hex>-<deployment>`. */
  name: z.string(),
  description: z.string().optional(),
  /** The name of its deployment. */
  deployment: z.string(),
  /** Unique, and stable for the instance's life. */
  podName: z.string(),
  ip: z.string(),
  /** Player UUID to player name. Container mc only. May be incomplete: see `playerCount`. */
  players: z.record(z.string(), z.string()).optional(),
  state: InstanceState,
  type: InstanceType,
  /** Open connections of players. */
  connections: z.number().int().nonnegative(),
  /** Text such as `3h 12m`; `0s` when offline. */
  uptime: z.string(),
  /** Percent of the instance's limit, or of the host without a limit. 0 to 100. */
  cpu: z.number().min(0).max(100),
  /** GiB. */
  memory: z.object({ used: z.number().nonnegative(), total: z.number().nonnegative() }),
  // Our extras.
  /** Number of players; null if the instance did not answer. Present if `players` is. */
  playerCount: z.number().int().nonnegative().nullable().optional(),
  /** The port that the current run was given; missing when offline or if none was given. */
  port: z.number().int().optional(),
  /** Start of the current run, in milliseconds since the epoch; missing when offline. */
  startedAt: z.number().optional(),
  /** Number of restarts after it exited by itself. */
  restarts: z.number().int().nonnegative().optional(),
  lastExit: LastExit.optional(),
  /** Time of the last exit by itself, which left a crash capsule. Milliseconds since the epoch. */
  crashedAt: z.number().optional(),
  /** Set if it is STARTING for longer than the definition's `readyTimeoutSeconds`. */
  lateStart: z
    .object({
      afterSeconds: z.number(),
      /** Shown to the user: `a console line that matches Done`. */
      waitingFor: z.string(),
    })
    .optional(),
  /** Set while it waits for a restart after it exited by itself. */
  retry: z
    .object({
      /** Relative to now, because clocks of browsers differ. */
      inMs: z.number().nonnegative(),
      /** One-based. */
      attempt: z.number().int(),
      /** Maximum number of attempts; after the last one the instance is BLOCKED. */
      of: z.number().int(),
    })
    .optional(),
  /** It is being drained: new players must not be sent there. */
  draining: z.boolean().optional(),
  /** Whether its definition says how to drain it. */
  canDrain: z.boolean().optional(),
  /** From its definition: first words of console commands that an action log keeps in full. */
  plainCommands: z.array(z.string()).optional(),
  /** Problems, for the user. */
  warnings: z.array(z.string()).optional(),
  /** Why it is BLOCKED. */
  blockedReason: z.string().optional(),
})
export type Instance = z.infer<typeof Instance>

export const InstancesAnswer = success(z.object({ instances: z.array(Instance) }))
export type InstancesAnswer = z.infer<typeof InstancesAnswer>

/** What was kept of the last crash, from `GET /api/deployments/{name}/instances/{uid}/crash`. Our extra. */
export const CrashCapsule = z.object({
  exit: LastExit,
  /** The last 50 lines before the exit, oldest first. */
  lines: z.array(
    z.object({ seq: z.number().int(), type: z.enum(['message', 'error', 'system']), content: z.string() }),
  ),
  /** The last ten minutes before the exit, oldest first. */
  cpu: z.array(MetricPoint),
  memory: z.array(MetricPoint),
})
export type CrashCapsule = z.infer<typeof CrashCapsule>

export const CrashCapsuleAnswer = success(CrashCapsule)
export type CrashCapsuleAnswer = z.infer<typeof CrashCapsuleAnswer>
