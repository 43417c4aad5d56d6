import { z } from 'zod'
import { COMMAND_MAX_LENGTH, WELL_FORMED } from '../pageRules'

/**
 * Query parameter of the websocket `/api/logs/{deployment}/{podName}`, our extra: with `?since=N` the channel begins
 * with line N, or the oldest stored line, instead of the last 1,000 lines, so that a reconnect neither misses nor
 * repeats lines.
 */
export const SINCE = 'since'

/** Frames of `/api/logs/{deployment}/{podName}` to the browser (decisions §6). */
export const ConsoleFrame = z.object({
  /** `system`: lines of the platform itself, which no program can send. Our extra. */
  type: z.enum(['message', 'error', 'power', 'system']),
  /** Lines joined by line feeds; for `power` the new instance state. */
  content: z.string(),
  /** Number of the first line of the frame, one-based per instance. Our extra. */
  seq: z.number().int().positive().optional(),
})
export type ConsoleFrame = z.infer<typeof ConsoleFrame>

/** Our extra: a request with a `ref` is answered by a frame with the same `ref`, which says whether it was executed. */
const Ref = z.string().min(1).max(64).optional()

/** Frames from the browser. */
export const ConsoleRequest = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('command'),
    command: z.string().min(1).max(COMMAND_MAX_LENGTH).regex(WELL_FORMED),
    ref: Ref,
  }),
  z.strictObject({
    type: z.literal('power'),
    ref: Ref,
    action: z.enum(['start', 'stop', 'restart', 'kill', 'drainAndStop', 'drainAndRestart']),
  }),
])
export type ConsoleRequest = z.infer<typeof ConsoleRequest>

/** The response to a request with a `ref`, sent instead of the notice about a refused request. Our extra. */
export const ConsoleAnswer = z.object({
  type: z.literal('answer'),
  ref: z.string(),
  /** Why the request was refused; missing if it was executed. */
  failure: z.object({ code: z.string(), message: z.string() }).optional(),
})
export type ConsoleAnswer = z.infer<typeof ConsoleAnswer>
