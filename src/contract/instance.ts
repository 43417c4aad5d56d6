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
  at: z.number().describe('Milliseconds since the epoch.'),
  reason: z.string().describe('Shown to the user.'),
})
export type LastExit = z.infer<typeof LastExit>

export const Instance = z.object({
  uid: z.string(),
  name: z.string().describe('`<6 hex>-<deployment>`.'),
  description: z.string().optional(),
  deployment: z.string().describe('The name of its deployment.'),
  podName: z.string().describe("Unique, and stable for the instance's life."),
  ip: z.string(),
  players: z
    .record(z.string(), z.string())
    .optional()
    .describe('Player UUID to player name. Container mc only. May be incomplete.'),
  state: InstanceState,
  type: InstanceType,
  connections: z.number().int().nonnegative().describe('Open connections of players.'),
  uptime: z.string().describe('Text such as `3h 12m`; `0s` when offline.'),
  cpu: z
    .number()
    .min(0)
    .max(100)
    .describe("Percent of the instance's limit, or of the host without a limit. 0 to 100."),
  memory: z.object({ used: z.number().nonnegative(), total: z.number().nonnegative() }).describe('GiB.'),
  // Our extras.
  clusterSilentSince: z
    .number()
    .optional()
    .describe(
      'When the Kubernetes cluster last answered, in milliseconds since the epoch, if it does not answer any more: all of this is as last known. Missing while it answers.',
    ),
  dataDirectory: z.string().optional().describe('The directory of its deployment, under the shared root.'),
  node: z
    .string()
    .optional()
    .describe('The node of the Kubernetes cluster that it runs on. Missing when offline, or before a node is chosen.'),
  limits: z
    .object({
      cpu: z.number().positive().optional().describe('mCPU.'),
      memory: z.number().positive().optional().describe('KiB.'),
    })
    .optional()
    .describe('What `resources` of its definition allows, in the units of metrics; missing without a limit.'),
  playerCount: z
    .number()
    .int()
    .nonnegative()
    .nullable()
    .optional()
    .describe('Number of players; null if the instance did not answer. Present if `players` is.'),
  port: z
    .number()
    .int()
    .optional()
    .describe('The port that the current run was given; missing when offline or if none was given.'),
  startedAt: z
    .number()
    .optional()
    .describe('Start of the current run, in milliseconds since the epoch; missing when offline.'),
  restarts: z.number().int().nonnegative().optional().describe('Number of restarts after it exited by itself.'),
  lastExit: LastExit.optional(),
  crashedAt: z
    .number()
    .optional()
    .describe('Time of the last exit by itself, which left a crash capsule. Milliseconds since the epoch.'),
  /** Set if the instance is STARTING for longer than the definition's `readyTimeoutSeconds`. */
  lateStart: z
    .object({
      afterSeconds: z.number(),
      waitingFor: z.string().describe('Shown to the user: `a console line that matches Done`.'),
    })
    .optional(),
  /** Set while the instance waits for a restart after it exited by itself. */
  retry: z
    .object({
      inMs: z.number().nonnegative().describe('Relative to now, because clocks of browsers differ.'),
      attempt: z.number().int().describe('One-based.'),
      of: z.number().int().describe('Maximum number of attempts; after the last one the instance is BLOCKED.'),
    })
    .optional(),
  draining: z.boolean().optional().describe('It is being drained: new players must not be sent there.'),
  canDrain: z.boolean().optional().describe('Whether its definition says how to drain it.'),
  plainCommands: z
    .array(z.string())
    .optional()
    .describe('From its definition: first words of console commands that an action log keeps in full.'),
  warnings: z.array(z.string()).optional().describe('Problems, for the user.'),
  blockedReason: z.string().optional().describe('Why it is BLOCKED.'),
})
export type Instance = z.infer<typeof Instance>

export const InstancesResponse = success(z.object({ instances: z.array(Instance) }))
export type InstancesResponse = z.infer<typeof InstancesResponse>

/** The record of the last crash, from `GET /api/deployments/{name}/instances/{uid}/crash`. Our extra. */
export const CrashCapsule = z.object({
  exit: LastExit,
  /** The last 50 lines before the exit, oldest first. */
  lines: z.array(
    z.object({ seq: z.number().int(), type: z.enum(['message', 'error', 'system']), content: z.string() }),
  ),
  cpu: z.array(MetricPoint).describe('The last ten minutes before the exit, oldest first.'),
  memory: z.array(MetricPoint),
})
export type CrashCapsule = z.infer<typeof CrashCapsule>

export const CrashCapsuleResponse = success(CrashCapsule)
export type CrashCapsuleResponse = z.infer<typeof CrashCapsuleResponse>
