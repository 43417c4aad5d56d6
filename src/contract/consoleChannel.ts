import { z } from 'zod'

/**
 * The channel is the websocket `/api/logs/{deployment}/{podName}`. Our platform takes `?since=N` there: it begins with
 * line N instead of the last 1,000, as far as it still has it, so that a reconnect misses nothing and repeats nothing.
 */
export const SINCE = 'since'

/** Close codes (RFC 6455 §7.4, the private range for our own). */
export const CLOSE_SESSION_ENDED = 4401
/** The session lives on with other rights: connect again. */
export const CLOSE_RIGHTS_CHANGED = 4403
export const CLOSE_TOO_FAST = 1008

/** Frames of `/api/logs/{deployment}/{podName}` to the browser (decisions §6). */
export const ConsoleFrame = z.object({
  /** `system`: lines of the platform itself. Our extra; no program can send one. */
  type: z.enum(['message', 'error', 'power', 'system']),
  /** Lines joined by a line feed; for `power` the new instance state. */
  content: z.string(),
  /** Number of the first line of the frame, counted from 1 per instance. Our extra. */
  seq: z.number().int().positive().optional(),
})
export type ConsoleFrame = z.infer<typeof ConsoleFrame>

/** Frames from the browser. */
export const ConsoleRequest = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('command'), command: z.string().min(1).max(8192) }),
  z.strictObject({
    type: z.literal('power'),
    action: z.enum(['start', 'stop', 'restart', 'kill', 'drainAndStop', 'drainAndRestart']),
  }),
])
export type ConsoleRequest = z.infer<typeof ConsoleRequest>
