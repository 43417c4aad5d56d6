import { MAX_STORED_LINES } from '../../lineRing'
import { secondOf, type LogOptions, type LogRow } from './podLog'
import { storeInBatches } from './rowBatches'
import { placeRows, StoredRows, type PlacedRow, type StoredPosition } from './storedRows'

/** Expected maximum of new rows. If there are more, a longer part of the log is searched for the newest stored row. */
const NEW_ROWS = 256
const MORE_NEW_ROWS = 8192
/** Time to find the newest stored row in a followed log. */
const SEARCH_MS = 1000

export interface NewRowsRequest {
  /** Undefined if no row of the run is stored. */
  stored: StoredPosition | undefined
  /** Whether to continue until the run ends. */
  follow: boolean
  signal: AbortSignal
  /** @param isAfterGap whether rows before these are lost */
  storeRows: (rows: PlacedRow[], isAfterGap: boolean) => Promise<void>
}

/**
 * Creates a function that reads the rows of a run's log that are not stored yet, and stores them. The kubelet can skip
 * rows by number or by time. By time it would skip new rows if the clock of a node was set back. The function throws
 * what `readLog` and `storeRows` throw.
 */
export function createNewRowsReader(
  readLog: (options: LogOptions) => AsyncIterable<LogRow[]>,
): (request: NewRowsRequest) => Promise<void> {
  /**
   * Whether the last read broke off before it reached new rows. The next one skips rows by time, because that is
   * shorter.
   */
  let isByTime = false

  return async function storeNewRows({ stored, follow, signal, storeRows }) {
    /** @param onStored called after each row that is stored already */
    async function read(options: LogOptions, rows: StoredRows, onStored?: () => void): Promise<void> {
      const isNew = (row: PlacedRow) => {
        const isStored = rows.has(row)
        if (isStored) onStored?.()
        return !isStored
      }
      const failing = new AbortController()
      const source = readLog({ ...options, signal: AbortSignal.any([options.signal, failing.signal]) })
      const store = async (batch: PlacedRow[]) => {
        const { isGap } = rows
        rows.isGap = false
        await storeRows(batch, isGap)
      }
      try {
        await storeInBatches(placeRows(source), isNew, store, () => failing.abort())
      } catch (error) {
        isByTime ||= !options.signal.aborted && rows.newest !== undefined && !rows.isPassed
        throw error
      }
    }

    /** Reads the rows after a position, from ever longer tails of the log until the position is found in one. */
    async function readMissing(position: StoredPosition): Promise<void> {
      let seen: PlacedRow | undefined
      for (const newRows of [NEW_ROWS, MORE_NEW_ROWS, undefined]) {
        const rows = new StoredRows(position, { mustHave: seen })
        await read({ follow: false, signal, ...(newRows !== undefined && { tail: tailOf(position, newRows) }) }, rows)
        signal.throwIfAborted()
        if (rows.isPassed) return
        // Otherwise rows would seem to be lost.
        if (!rows.isComplete) throw new Error('The log of an instance broke off')
        seen = rows.newest
      }
      await read({ follow: false, signal }, new StoredRows(undefined, { isGap: true }))
    }

    /** Follows the log. If its tail does not contain the position, the missing rows are read instead. */
    async function followFrom(position: StoredPosition): Promise<void> {
      const rows = new StoredRows(position)
      const tail = tailOf(position, NEW_ROWS)
      const search = new AbortController()
      let timer: NodeJS.Timeout | undefined
      const giveUp = () => {
        if (!rows.isPassed) search.abort()
      }
      let skipped = 0
      try {
        await read({ follow, tail, signal: AbortSignal.any([signal, search.signal]) }, rows, () => {
          skipped += 1
          if (skipped >= tail) giveUp()
          timer ??= setTimeout(giveUp, SEARCH_MS)
        })
      } catch (error) {
        if (!search.signal.aborted) throw error
      } finally {
        clearTimeout(timer)
      }
      signal.throwIfAborted()
      if (!rows.isPassed) await readMissing(position)
    }

    if (!stored) return read({ follow, signal, ...(!follow && { tail: MAX_STORED_LINES }) }, new StoredRows(undefined))
    if (isByTime) {
      isByTime = false
      return read({ follow, signal, sinceMs: secondOf(stored.readTo) }, new StoredRows(stored, { isByTime: true }))
    }
    return follow ? followFrom(stored) : readMissing(stored)
  }
}

/** The tail must include all rows of the newest time, because their places are counted. */
const tailOf = ({ readCount }: StoredPosition, newRows: number) => readCount + newRows
