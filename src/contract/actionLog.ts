import { z } from 'zod'
import { ACTION_LOG_LENGTH } from './pageRules'

/** Increases with every change that makes older and newer files or consoles incompatible. */
export const ACTION_LOG_VERSION = 1

/** Limit of the file size. */
export const ACTION_LOG_MAX_BYTES = 50 * 2 ** 20
/** Limit of the nesting of values in the file. */
export const ACTION_LOG_MAX_DEPTH = 200

/** The end of the year 9999, in milliseconds since the epoch. */
const LAST_TIME = 253_402_300_799_999
const Time = z.number().int().min(0).max(LAST_TIME)
/** A year in milliseconds. */
const LONGEST = 366 * 86_400_000
/** Limit for one action, above the number of lines that the console can have pending. */
const OMITTED_LINES_MAX = 20_000

const Route = z.string().max(16_384)
const State = z.looseObject({ route: Route.optional() })
/** A line prefixed with the initial of its type, or a number of omitted lines. */
const Lines = z
  .array(z.union([z.string(), z.number().int().positive().max(OMITTED_LINES_MAX)]))
  .refine(
    (lines) => lines.reduce<number>((sum, line) => sum + (typeof line === 'number' ? line : 1), 0) <= OMITTED_LINES_MAX,
    `has more than ${OMITTED_LINES_MAX} lines`,
  )

/** Payloads that the player itself reads, not only the reducers. */
const payloads = new Map<string, z.ZodType>([
  ['console/linesReceived', Lines],
  ['route/changed', Route],
])

/** An action after redaction, as it is dispatched again in a replay. */
export const LoggedAction = z
  .object({
    /** Milliseconds since `startedAt`. */
    at: z.number().nonnegative().max(LONGEST),
    type: z.string().min(1),
    payload: z.unknown().optional(),
    meta: z.unknown().optional(),
    error: z.unknown().optional(),
    /** The slices that the action changed, each with the hash of its new state. */
    changed: z.record(z.string(), z.string()),
  })
  .superRefine(({ type, payload }, context) => {
    const issue = payloads.get(type)?.safeParse(payload).error?.issues[0]
    if (issue) context.addIssue({ code: 'custom', path: ['payload', ...issue.path], message: issue.message })
  })
export type LoggedAction = z.infer<typeof LoggedAction>

/** The file of 'Export action log' (src/web/actionLog/README.md). */
export const ActionLog = z.object({
  format: z.literal('quarterdeck-action-log'),
  version: z.literal(ACTION_LOG_VERSION),
  /** The build of the console that wrote the file. */
  build: z.string(),
  /** Time of the first action. Milliseconds since the epoch. */
  startedAt: Time,
  /** Milliseconds since the epoch. */
  exportedAt: Time,
  /** Size of the page in CSS pixels. */
  viewport: z.object({ width: z.number().int().min(0).max(100_000), height: z.number().int().min(0).max(100_000) }),
  /** Path and query of the page at the time of the export. */
  route: Route,
  /** The state before the first action. */
  base: State,
  actions: z.array(LoggedAction).max(ACTION_LOG_LENGTH),
  /** The state after the last action. */
  final: State,
  /** Hash of `final`. */
  hash: z.string(),
  /** Checksum of everything but `format`, `version`, `build` and `final`. Missing in files of earlier consoles. */
  sum: z.string().optional(),
})
export type ActionLog = z.infer<typeof ActionLog>
