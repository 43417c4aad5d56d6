import { z } from 'zod'
import { ACTION_LOG_LENGTH } from './actionLogLength'

/** Goes up with every change after which an older console could not read a newer file, or the other way round. */
export const ACTION_LOG_VERSION = 1

/** Of the file, in bytes. */
export const ACTION_LOG_MAX_BYTES = 50 * 2 ** 20
/** Of the values in it, one within the other. */
export const ACTION_LOG_MAX_DEPTH = 200

/** The end of the year 9999, in milliseconds since the epoch. */
const LAST_TIME = 253_402_300_799_999
const Time = z.number().int().min(0).max(LAST_TIME)
/** A year, in milliseconds. */
const LONGEST = 366 * 86_400_000
/** Omitted in one action: more than the console keeps of lines that wait. */
const OMITTED_LINES_MAX = 20_000

const Route = z.string().max(16_384)
const State = z.looseObject({ route: Route.optional() })
/** A line with the initial of its type before it, or how many lines were omitted. */
const Lines = z.array(z.union([z.string(), z.number().int().positive().max(OMITTED_LINES_MAX)]))

/** What the player itself, and not a reducer, takes from an action. */
const payloads: Record<string, z.ZodType> = { 'console/linesReceived': Lines, 'route/changed': Route }

/** One fact, after redaction, as it is handed to the reducers again. */
export const LoggedAction = z
  .object({
    /** Milliseconds since `startedAt`. */
    at: z.number().nonnegative().max(LONGEST),
    type: z.string().min(1),
    payload: z.unknown().optional(),
    meta: z.unknown().optional(),
    error: z.unknown().optional(),
    /** The parts of the state that it changed, each with the hash of what it became. */
    changed: z.record(z.string(), z.string()),
  })
  .superRefine(({ type, payload }, context) => {
    const issue = payloads[type]?.safeParse(payload).error?.issues[0]
    if (issue) context.addIssue({ code: 'custom', path: ['payload', ...issue.path], message: issue.message })
  })
export type LoggedAction = z.infer<typeof LoggedAction>

/** The file of 'Export action log' (src/web/actionLog/README.md). */
export const ActionLog = z.object({
  format: z.literal('quarterdeck-action-log'),
  version: z.literal(ACTION_LOG_VERSION),
  /** Of the console that wrote it. */
  build: z.string(),
  /** Of the first action, in milliseconds since the epoch. */
  startedAt: Time,
  /** When it was written, in milliseconds since the epoch. */
  exportedAt: Time,
  /** Of the page, in CSS pixels. */
  viewport: z.object({ width: z.number().int().min(0).max(100_000), height: z.number().int().min(0).max(100_000) }),
  /** Path and query of the page that was shown when it was written. */
  route: Route,
  /** The state before the first action. */
  base: State,
  actions: z.array(LoggedAction).max(ACTION_LOG_LENGTH),
  /** The state after the last action. */
  final: State,
  /** Of `final`. */
  hash: z.string(),
  /** Of everything else but `format`, `version`, `build` and `final`. Earlier consoles did not write it. */
  sum: z.string().optional(),
})
export type ActionLog = z.infer<typeof ActionLog>
