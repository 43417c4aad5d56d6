import { z } from 'zod'

/** Goes up with every change after which an older console could not read a newer file, or the other way round. */
export const ACTION_LOG_VERSION = 1

const State = z.record(z.string(), z.unknown())

/** One fact, after redaction, as it is handed to the reducers again. */
export const LoggedAction = z.object({
  /** Milliseconds since `startedAt`. */
  at: z.number().nonnegative(),
  type: z.string().min(1),
  payload: z.unknown().optional(),
  meta: z.unknown().optional(),
  error: z.unknown().optional(),
  /** The parts of the state that it changed, each with the hash of what it became. */
  changed: z.record(z.string(), z.string()),
})
export type LoggedAction = z.infer<typeof LoggedAction>

/** The file of 'Export action log' (src/web/actionLog/README.md). */
export const ActionLog = z.object({
  format: z.literal('quarterdeck-action-log'),
  version: z.literal(ACTION_LOG_VERSION),
  /** Of the console that wrote it. */
  build: z.string(),
  /** Of the first action, in milliseconds since the epoch. */
  startedAt: z.number(),
  /** When it was written, in milliseconds since the epoch. */
  exportedAt: z.number(),
  /** Of the page, in CSS pixels. */
  viewport: z.object({ width: z.number(), height: z.number() }),
  /** Path and query of the page that was shown when it was written. */
  route: z.string(),
  /** The state before the first action. */
  base: State,
  actions: z.array(LoggedAction),
  /** The state after the last action. */
  final: State,
  /** Of `final`. */
  hash: z.string(),
})
export type ActionLog = z.infer<typeof ActionLog>
