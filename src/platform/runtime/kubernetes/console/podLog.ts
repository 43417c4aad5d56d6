import { eachRow, lineText } from '../../logRows'
import type { ClusterClient } from '../clusterClient'
import { CONTAINER } from '../podSpec'

/** Maximum bytes of a row. Console lines are cut at a lower limit. */
const MAX_ROW_BYTES = 16 * 1024
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
  private rest: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): LogRow[] {
    const buffer = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk
    const rows: LogRow[] = []
    const used = eachRow(buffer, (start, end) => {
      const row = readRow(buffer.subarray(start, end))
      if (row) rows.push(row)
    })
    this.rest = buffer.subarray(used, used + MAX_ROW_BYTES)
    return rows
  }

  /** Returns the last row if it has no line end. */
  end(): LogRow | undefined {
    return this.rest.length > 0 ? readRow(this.rest) : undefined
  }
}

/** @returns undefined for a row of the kubelet itself, which has no time */
function readRow(row: Buffer): LogRow | undefined {
  const space = row.indexOf(SPACE)
  const time = keyOf(row.toString('latin1', 0, space === -1 ? row.length : space))
  if (time === undefined) return undefined
  return { time, text: space === -1 ? '' : lineText(row.subarray(space + 1, MAX_ROW_BYTES)) }
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
