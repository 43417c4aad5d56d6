/**
 * What is stored of a console in addition to its lines. The runtime decides what it contains and the state stores it;
 * neither imports the other.
 */
export interface ConsoleHead {
  /** The number of the newest line; 0 if there is none. */
  last: number
  /** The run whose output was stored last. */
  runId: string | null
  /** The number of the first line of that run. */
  runFirst: number
  /** The time of the newest line of that run, as `LogRow.time`, and how many of its stored lines have this time. */
  readTo: string | null
  readCount: number
  /** The last run that was stored completely. */
  completeRun: string | null
}
