import { randomUUID } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pino from 'pino'
import { createEntryLocks } from '../../../src/platform/share/changes/entryLocks'
import { openTemporaries } from '../../../src/platform/share/changes/temporaries'
import { createJail } from '../../../src/platform/share/jail'
import { dropEndedReplicas, registerReplica } from '../../../src/platform/state/replicas'
import { createStoredTemporaries } from '../../../src/platform/state/temporaries'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
const log = pino({ level: 'silent' })
let state: FreshState

beforeEach(async () => void (state = await freshState()))
afterEach(() => state.close())

const age = (id: string, minutes: number) =>
  state.db
    .updateTable('replicas')
    .set({ seen_at: sql<Date>`now() - make_interval(mins => ${minutes})` })
    .where('id', '=', id)
    .execute()

test('the leftovers of a replica are found only when it was silent for five minutes at two looks in a row', async () => {
  const [dead, alive] = [await registerReplica(state.db, log), await registerReplica(state.db, log)]
  const id = randomUUID()
  await createStoredTemporaries(state.db, dead.id).add(id, '/share/unfinished')
  const records = createStoredTemporaries(state.db, alive.id)
  expect([await records.leftovers(), await records.leftovers()]).toEqual([[], []])
  await age(dead.id, 4)
  expect([await records.leftovers(), await records.leftovers()]).toEqual([[], []])
  await age(dead.id, 6)
  expect(await records.leftovers()).toEqual([])
  // The replica is alive after all: it could not reach the state for a while.
  await age(dead.id, 0)
  expect([await records.leftovers(), await records.leftovers()]).toEqual([[], []])
  await age(dead.id, 6)
  await dropEndedReplicas(state.db)
  expect(await records.leftovers()).toEqual([])
  expect(await records.leftovers()).toMatchObject([{ id, path: '/share/unfinished' }])
  await records.remove(id)
  expect(await records.leftovers()).toEqual([])
  await Promise.all([dead.close(), alive.close()])
  expect(await state.db.selectFrom('replicas').selectAll().execute()).toEqual([])
})

test('the unfinished files of an ended replica are removed from the shared area', async () => {
  const shareDir = join(directory(), 'nfsshare')
  await mkdir(join(shareDir, 'lobby'), { recursive: true })
  const id = randomUUID()
  const name = `.quarterdeck-${id}.part`
  await writeFile(join(shareDir, 'lobby', name), 'half')
  await writeFile(join(shareDir, 'lobby', 'whole.txt'), 'whole')
  const left = [{ id, path: join(shareDir, 'lobby', name) }]
  const records = {
    add: async () => undefined,
    remove: async (removed: string) => void left.splice(0, removed === id ? 1 : 0),
    leftovers: async () => [...left],
  }
  await openTemporaries(join(directory(), 'data'), createJail(shareDir), createEntryLocks(), log, records)
  expect(await readdir(join(shareDir, 'lobby'))).toEqual(['whole.txt'])
  expect(left).toEqual([])
})
