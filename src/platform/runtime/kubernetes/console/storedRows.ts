import type { ConsoleHead } from '../../../consoleHead'
import type { LogRow } from './podLog'

/** A row with its one-based place among consecutive rows of the same time: a program may print several at once. */
export interface PlacedRow extends LogRow {
  place: number
}

/** The newest stored row of a run: its time, and its place. */
export interface StoredPosition {
  readTo: string
  readCount: number
}

/** Adds the place to each row of one read. */
export async function* placeRows(batches: AsyncIterable<LogRow[]>): AsyncGenerator<PlacedRow[]> {
  let newest = { time: '', place: 0 }
  for await (const rows of batches)
    yield rows.map((row) => {
      newest = { time: row.time, place: row.time === newest.time ? newest.place + 1 : 1 }
      return { ...row, place: newest.place }
    })
}

/** Whether a row is the newest stored one. */
export const isAt = ({ time, place }: PlacedRow, { readTo, readCount }: StoredPosition): boolean =>
  time === readTo && place === readCount

interface SearchOptions {
  /** Whether rows of later times are new although the newest stored row was not found. */
  isByTime?: boolean
  /** Whether rows before the first one are lost. */
  isGap?: boolean
  /** A row that an earlier read found in the log. */
  mustHave?: PlacedRow | undefined
}

/**
 * Finds the newest stored row in a log. The rows after it are new. Their order decides, not their times, because the
 * clock of a node may be set back.
 */
export class StoredRows {
  /** Whether the following rows are new. */
  isPassed: boolean
  /** Whether rows before the next new one are lost. */
  isGap: boolean
  /** Whether the row `mustHave` was read; true without one. */
  isComplete: boolean
  /** The last row that was read before the first new one. */
  newest: PlacedRow | undefined

  /** @param stored undefined if all rows are new */
  constructor(
    private readonly stored: StoredPosition | undefined,
    private readonly options: SearchOptions = {},
  ) {
    this.isPassed = stored === undefined
    this.isGap = options.isGap ?? false
    this.isComplete = options.mustHave === undefined
  }

  /** Whether a row is stored. Call it for each row, in order. */
  has(row: PlacedRow): boolean {
    const { stored } = this
    if (this.isPassed || !stored) return false
    const { isByTime, mustHave } = this.options
    if (isByTime && row.time > stored.readTo) {
      this.isPassed = true
      this.isGap = true
      return false
    }
    this.newest = row
    this.isComplete ||= row.time === mustHave?.time && row.text === mustHave.text
    this.isPassed = isAt(row, stored)
    return true
  }
}

/** @returns the position up to which a run is stored; undefined if nothing of it is */
export function positionOf(
  { runId, readTo, readCount }: Pick<ConsoleHead, 'runId' | 'readTo' | 'readCount'>,
  presentRunId: string,
): StoredPosition | undefined {
  return runId === presentRunId && readTo !== null ? { readTo, readCount } : undefined
}
