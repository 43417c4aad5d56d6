import type { ClusterClient } from '../clusterClient'
import { CONTAINER } from '../podSpec'

/** Maximum bytes of a row. Console lines are cut at a lower limit. */
const MAX_ROW_BYTES = 16 * 1024
const LINE_FEED = 0x0a
const SPACE = 0x20

/** One row of a Pod's log. */
export interface LogRow {
  /** Sorts as text: seconds and nanoseconds since the epoch. */
  time: string
  text: string
}

export interface LogOptions {
  /** Skips rows that are older than this second: milliseconds since the epoch. */
  sinceMs?: number
  /** Only the last rows. */
  tail?: number
  /** Continues until the container ends. */
  follow: boolean
  signal: AbortSignal
}

/**
 * Reads the log of a Pod's instance. Rows come in batches, as the network delivers them.
 * @throws ClusterRefusal (400 before the container has started, 404 without a Pod); AppError UNAVAILABLE
 */
export async function* readPodLog(
  client: ClusterClient,
  podName: string,
  { sinceMs, tail, follow, signal }: LogOptions,
): AsyncGenerator<LogRow[]> {
  const stream = await client.stream(
    `/api/v1/namespaces/${client.namespace}/pods/${podName}/log`,
    {
      container: CONTAINER,
      timestamps: 'true',
      follow: String(follow),
      ...(sinceMs !== undefined && { sinceTime: new Date(sinceMs).toISOString() }),
      ...(tail !== undefined && { tailLines: String(tail) }),
    },
    signal,
  )
  const rows = new RowSplitter()
  for await (const chunk of stream) {
    const batch = rows.push(chunk as Buffer)
    if (batch.length > 0) yield batch
  }
  const last = rows.end()
  if (last) yield [last]
}

/** Splits a log into rows: `2026-01-02T03:04:05.000000006Z text`. The rest of a row that is too long is dropped. */
class RowSplitter {
  private rest: Buffer[] = []
  private restBytes = 0

  push(chunk: Buffer): LogRow[] {
    const rows: LogRow[] = []
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.keep(chunk.subarray(start, end))
      const row = this.end()
      if (row) rows.push(row)
      start = end + 1
    }
    this.keep(chunk.subarray(start))
    return rows
  }

  /** Returns the last row if it has no line end. */
  end(): LogRow | undefined {
    if (this.restBytes === 0) return undefined
    const row = readRow(Buffer.concat(this.rest))
    this.rest = []
    this.restBytes = 0
    return row
  }

  private keep(part: Buffer): void {
    const kept = part.subarray(0, Math.max(0, MAX_ROW_BYTES - this.restBytes))
    if (kept.length === 0) return
    this.rest.push(kept)
    this.restBytes += kept.length
  }
}

/** @returns undefined for a row of the kubelet itself, which has no time */
function readRow(row: Buffer): LogRow | undefined {
  const space = row.indexOf(SPACE)
  const time = keyOf(row.toString('latin1', 0, space === -1 ? row.length : space))
  if (time === undefined) return undefined
  const text = space === -1 ? '' : row.toString('utf8', space + 1)
  return { time, text: text.endsWith('\r') ? text.slice(0, -1) : text }
}

/** RFC 3339 with nanoseconds, in any time zone, as seconds and nanoseconds since the epoch. */
function keyOf(time: string): string | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(time)
  if (!match) return undefined
  const seconds = Date.parse(`${match[1]}${match[3]}`) / 1000
  return `${String(seconds).padStart(12, '0')}.${(match[2] ?? '').padEnd(9, '0')}`
}

/** The second of a row, in milliseconds since the epoch. */
export function secondOf(time: string): number {
  return Number(time.split('.')[0]) * 1000
}
