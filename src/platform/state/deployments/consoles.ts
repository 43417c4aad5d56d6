import { sql } from 'kysely'
import type { ConsoleHead } from '../../consoleHead'
import type { Db } from '../db'

/** A chunk takes further lines until it has this many characters. */
const CHUNK_LENGTH = 8192
/** How long a platform may read the output of an instance without a renewal, by the database's clock. */
const LEASE_SECONDS = 5

interface Line {
  type: 'message' | 'error' | 'system'
  content: string
}

const LETTERS = { message: 'm', error: 'e', system: 's' } as const
const TYPES: Record<string, Line['type']> = { m: 'message', e: 'error', s: 'system' }

/**
 * The consoles of instances in the state. Lines are numbered when they are stored, so every platform shows the same
 * numbers. Only lines that follow the newest one can be appended: of two platforms that read the same output, one is
 * refused.
 */
export function createConsoleStore(db: Db) {
  return {
    /** The head of a console, which is created if there is none. */
    async head(podName: string): Promise<ConsoleHead> {
      await db
        .insertInto('consoles')
        .values({ pod_name: podName })
        .onConflict((on) => on.doNothing())
        .execute()
      const row = await db.selectFrom('consoles').selectAll().where('pod_name', '=', podName).executeTakeFirstOrThrow()
      return {
        last: Number(row.last),
        runId: row.run_id,
        runFirst: Number(row.run_first),
        readTo: row.read_to,
        readCount: row.read_count,
        completeRun: row.complete_run,
      }
    },

    /**
     * Appends lines after `head.last`, and replaces the rest of the head.
     * @param lines without line ends. @returns false if another platform has appended first; nothing is stored then
     */
    append: (podName: string, head: ConsoleHead, lines: Line[]): Promise<boolean> => append(db, podName, head, lines),

    /** The stored lines from a number on, oldest first. */
    async lines(podName: string, from: number): Promise<(Line & { seq: number })[]> {
      const chunks = await db
        .selectFrom('console_chunks')
        .select(['first', 'lines'])
        .where('pod_name', '=', podName)
        .where('last', '>=', String(from))
        .orderBy('first')
        .execute()
      return chunks
        .flatMap(({ first, lines }) =>
          lines.split('\n').map((line, at) => ({
            seq: Number(first) + at,
            type: TYPES[line.charAt(0)] ?? 'message',
            content: line.slice(1),
          })),
        )
        .filter(({ seq }) => seq >= from)
    },

    /** The numbers of the newest lines of several consoles. */
    async newest(podNames: string[]): Promise<Map<string, number>> {
      const rows = await db
        .selectFrom('consoles')
        .select(['pod_name', 'last'])
        .where('pod_name', 'in', podNames)
        .execute()
      return new Map(rows.map(({ pod_name, last }) => [pod_name, Number(last)]))
    },

    /** Deletes the oldest chunks that exceed a number of lines, or of bytes. */
    async trim(podName: string, maxLines: number, maxBytes: number): Promise<void> {
      await sql`
        delete from console_chunks using (
          select first, sum(octet_length(lines)) over (order by first desc) as bytes,
            max(last) over () - last as newer
          from console_chunks where pod_name = ${podName}
        ) as kept
        where pod_name = ${podName} and console_chunks.first = kept.first
          and (kept.newer >= ${maxLines}::bigint or (kept.bytes > ${maxBytes}::bigint and kept.newer > 0))`.execute(db)
    },

    async remove(podName: string): Promise<void> {
      await db.deleteFrom('consoles').where('pod_name', '=', podName).execute()
    },

    /**
     * Takes or renews the lease to read the output of an instance, for 5 seconds.
     * @param reader identifies the platform. @returns false while another platform has it
     */
    async lease(podName: string, reader: string): Promise<boolean> {
      const { rows } = await sql`
        update consoles set reader = ${reader}, reader_until = now() + make_interval(secs => ${LEASE_SECONDS}::int)
        where pod_name = ${podName} and (reader = ${reader} or reader is null or reader_until < now())
        returning 1`.execute(db)
      return rows.length > 0
    },

    /** Gives a lease back, so that another platform can read at once. */
    async release(podName: string, reader: string): Promise<void> {
      await db
        .updateTable('consoles')
        .set({ reader: null })
        .where('pod_name', '=', podName)
        .where('reader', '=', reader)
        .execute()
    },
  }
}

async function append(db: Db, podName: string, head: ConsoleHead, lines: Line[]): Promise<boolean> {
  const text = lines.map(({ type, content }) => LETTERS[type] + content).join('\n')
  const count = lines.length
  const { rows } = await sql<{ last: string }>`
    with head as (
      update consoles set last = last + ${count}::int, run_id = ${head.runId}, run_first = ${head.runFirst}, read_to = ${head.readTo},
        read_count = ${head.readCount}, complete_run = ${head.completeRun}
      where pod_name = ${podName} and last = ${head.last}
      returning last
    ), grown as (
      update console_chunks as chunk set last = head.last, lines = chunk.lines || E'\n' || ${text}::text
      from head
      where chunk.pod_name = ${podName} and chunk.last = ${head.last} and ${count}::int > 0
        and length(chunk.lines) + ${text.length}::int < ${CHUNK_LENGTH}::int
      returning 1
    ), added as (
      insert into console_chunks (pod_name, first, last, lines)
      select ${podName}, ${head.last}::bigint + 1, head.last, ${text}::text from head
      where ${count}::int > 0 and not exists (select 1 from grown)
    )
    select last from head`.execute(db)
  return rows.length > 0
}
