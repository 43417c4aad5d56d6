import type { LogRow } from './podLog'

/** The time of the newest stored row of a run, and how many stored rows have that time. */
export interface StoredPosition {
  readTo: string
  readCount: number
}

/** Finds the rows at the beginning of a log that are stored already. */
export class StoredRows {
  private known = 0
  private isPassed: boolean

  constructor(private readonly stored: StoredPosition | undefined) {
    this.isPassed = stored === undefined
  }

  /** Whether the log did not hold the newest stored row any more. */
  isGap = false

  /** Whether a row is stored. Call it for each row, in order. */
  has({ time }: LogRow): boolean {
    // The clock of a node may be set back: what follows a new row is new.
    if (this.isPassed || !this.stored) return false
    const { readTo, readCount } = this.stored
    if (time < readTo) return true
    if (time === readTo && this.known < readCount) {
      this.known += 1
      return true
    }
    this.isPassed = true
    this.isGap = this.known < readCount
    return false
  }

  without(rows: LogRow[]): LogRow[] {
    return rows.filter((row) => !this.has(row))
  }
}
