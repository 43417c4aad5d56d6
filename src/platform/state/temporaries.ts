import type { Db } from './db'
import { hasEnded } from './replicas'

/**
 * The records of a replica's unfinished files, because its data directory may be gone with it. Implements
 * `TemporaryRecords` of the shared area.
 * @param replica the id of this one
 */
export function createStoredTemporaries(db: Db, replica: string) {
  let endedBefore = new Set<string>()
  return {
    async add(id: string, path: string): Promise<void> {
      await db.insertInto('temporaries').values({ id, replica, path }).execute()
    },
    async remove(id: string): Promise<void> {
      await db.deleteFrom('temporaries').where('id', '=', id).execute()
    },
    /**
     * Only those of replicas that had already ended at the previous call: after an outage of the database, all replicas
     * look as if they had ended, for a moment.
     */
    async leftovers(): Promise<{ id: string; path: string }[]> {
      const rows = await db
        .selectFrom('temporaries')
        .selectAll()
        .where('replica', '!=', replica)
        .where(hasEnded('temporaries.replica'))
        .execute()
      const found = rows.filter((row) => endedBefore.has(row.replica))
      endedBefore = new Set(rows.map((row) => row.replica))
      return found
    },
  }
}
