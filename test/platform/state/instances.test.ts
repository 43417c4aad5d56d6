import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { insertDeployment } from '../../../src/platform/state/deployments/deployments'
import {
  insertInstance,
  listInstances,
  setBlocked,
  setExit,
  setWaiting,
} from '../../../src/platform/state/deployments/instances'
import type { Db } from '../../../src/platform/state/db'
import { freshState, type FreshState } from '../../support/platform/freshState'

let state: FreshState
beforeAll(async () => {
  state = await freshState()
})
afterAll(() => state.close())

const uids = [randomUUID(), randomUUID()] as const
const exit = { reason: 'exit code 1', at: 0 } as Parameters<typeof setExit>[2]['exit']
const crashed = { runId: 'run', crashes: [0], startAfter: null, blockedReason: 'It crashed.', exit, capsule: undefined }

test.each<[string, (db: Db, uid: string) => Promise<void>]>([
  ['blocks', (db, uid) => setBlocked(db, uid, 'The program is missing.')],
  ['waits', (db, uid) => setWaiting(db, uid, 'The disk is full.', false)],
  ['crashed too often', (db, uid) => setExit(db, uid, crashed)],
])(
  'when the database fails while it stores that an instance %s, the step can be repeated and ends the restart',
  async (_what, store) => {
    const { db } = state
    await db.deleteFrom('deployments').execute()
    await insertDeployment(db, { name: 'bots', type: 'scalable', content: '', enabled: true })
    for (const slot of [0, 1])
      await insertInstance(db, {
        uid: uids[slot]!,
        deployment: 'bots',
        name: `bots-${slot}`,
        pod_name: `bots-${slot}`,
        slot,
      })
    await db.updateTable('instances').set({ restart_run: 'run' }).execute()
    // The other instance's row cannot be changed.
    await sql`
      create function fail() returns trigger language plpgsql as $$ begin raise 'the database failed'; end $$;
      create trigger failing before update on instances for each row when (old.slot = 1) execute function fail()
    `.execute(db)
    await expect(store(db, uids[0])).rejects.toThrow('the database failed')
    const [failed] = await listInstances(db)
    await sql`drop function fail cascade`.execute(db)
    expect(failed).toMatchObject({ blocked_reason: null, handled_run: null })
    await store(db, uids[0])
    const rows = await listInstances(db)
    expect(rows.map((row) => row.restart_run)).toEqual([null, null])
    expect(rows[0]?.blocked_reason).toMatch(/./)
  },
)
