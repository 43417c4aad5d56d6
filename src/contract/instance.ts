import { z } from 'zod'
import { success } from './envelope'
import { INSTANCE_STATES } from './instanceStates'
import { MetricPoint } from './metric'

export const InstanceState = z.enum(INSTANCE_STATES)
export type InstanceState = z.infer<typeof InstanceState>

/** `process` for container process, `minecraft` for container mc. */
export const InstanceType = z.enum(['process', 'minecraft'])
export type InstanceType = z.infer<typeof InstanceType>

/** How a run ended. */
export const LastExit = z.object({
  code: z.number().int().nullable(),
  signal: z.string().nullable(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** For people. */
  reason: z.string(),
})
export type LastExit = z.infer<typeof LastExit>

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
  /** Player uuid to player name. Present for container mc only. A server may name fewer than play on it: see `playerCount`. */
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
  // Our extras.
  /** How many play, as the server says; null: it did not answer. Present where `players` is. */
  playerCount: z.number().int().nonnegative().nullable().optional(),
  /** Where the present run was told to listen; absent when offline, or when it was told nothing. */
  port: z.number().int().optional(),
  /** Of the present run, milliseconds since the epoch; absent when offline. */
  startedAt: z.number().optional(),
  /** How often it was started again after it ended by itself. */
  restarts: z.number().int().nonnegative().optional(),
  lastExit: LastExit.optional(),
  /** When it last ended by itself, milliseconds since the epoch: then there is a crash capsule. */
  crashedAt: z.number().optional(),
  /** STARTING for longer than its definition's `readyTimeoutSeconds`. */
  lateStart: z
    .object({
      afterSeconds: z.number(),
      /** For people: `a console line that matches Done`. */
      waitingFor: z.string(),
    })
    .optional(),
  /** It ended by itself and is started again. */
  retry: z
    .object({
      /** Milliseconds from now: clocks of browsers differ. */
      inMs: z.number().nonnegative(),
      /** Counted from 1. */
      attempt: z.number().int(),
      /** With the end of the last one it is BLOCKED. */
      of: z.number().int(),
    })
    .optional(),
  /** It is emptied before it ends: no new players. */
  draining: z.boolean().optional(),
  /** Its definition says how to drain it. */
  canDrain: z.boolean().optional(),
  /** Of its definition: first words of console commands that an action log keeps whole. */
  plainCommands: z.array(z.string()).optional(),
  /** What is not as it should be, for people. */
  warnings: z.array(z.string()).optional(),
  /** Why it is BLOCKED. */
  blockedReason: z.string().optional(),
})
export type Instance = z.infer<typeof Instance>

export const InstancesAnswer = success(z.object({ instances: z.array(Instance) }))
export type InstancesAnswer = z.infer<typeof InstancesAnswer>

/** What was kept of the last end by itself. Of `GET /api/deployments/{name}/instances/{uid}/crash`, our extra. */
export const CrashCapsule = z.object({
  exit: LastExit,
  /** The last 50 lines before it, oldest first. */
  lines: z.array(
    z.object({ seq: z.number().int(), type: z.enum(['message', 'error', 'system']), content: z.string() }),
  ),
  /** The last ten minutes before it, oldest first. */
  cpu: z.array(MetricPoint),
  memory: z.array(MetricPoint),
})
export type CrashCapsule = z.infer<typeof CrashCapsule>

export const CrashCapsuleAnswer = success(CrashCapsule)
export type CrashCapsuleAnswer = z.infer<typeof CrashCapsuleAnswer>
