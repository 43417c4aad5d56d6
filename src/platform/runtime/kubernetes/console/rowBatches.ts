import type { LogRow } from './podLog'

/** Maximum size of a batch. */
const MAX_BATCH_BYTES = 256 * 1024
/** Rows within this time are stored together. */
const BATCH_MS = 20
/** Overhead that counts per row, because a program may print only empty lines. */
const ROW_BYTES = 64

/**
 * Reads all rows and stores them in batches, one at a time. While a batch is being stored, the next one is collected;
 * when that is full, reading pauses (backpressure).
 * @param isNew called for each row in order; others are dropped
 * @param onFailure called when a batch could not be stored: end the source, which may have no more rows for a long time
 * @throws errors of reading or storing, after the earlier rows were passed to the store
 */
export async function storeInBatches<Row extends LogRow>(
  source: AsyncIterable<Row[]>,
  isNew: (row: Row) => boolean,
  storeRows: (rows: Row[]) => Promise<void>,
  onFailure: () => void,
): Promise<void> {
  let pending: Row[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()
  let isStoring = false
  let failure: { error: unknown } | undefined

  function storePending(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const rows = pending
    pending = []
    bytes = 0
    isStoring = true
    const stored = storing
      .then(() => (rows.length > 0 && !failure ? storeRows(rows) : undefined))
      .catch((error: unknown) => {
        failure ??= { error }
        onFailure()
      })
      .finally(() => {
        if (storing === stored) isStoring = false
      })
    storing = stored
    return stored
  }

  /** Batches must not queue up behind a slow store. */
  function storeUnlessStoring(): void {
    if (isStoring) timer = setTimeout(storeUnlessStoring, BATCH_MS)
    else void storePending()
  }

  try {
    for await (const rows of source) {
      for (const row of rows) {
        if (!isNew(row)) continue
        pending.push(row)
        bytes += ROW_BYTES + row.text.length
        if (bytes >= MAX_BATCH_BYTES) await storePending()
      }
      if (failure) break
      timer ??= setTimeout(storeUnlessStoring, BATCH_MS)
    }
  } catch (error) {
    // Otherwise it is the end of the source after a failure.
    if (!failure) throw error
  } finally {
    await storePending()
  }
  if (failure) throw failure.error
}
