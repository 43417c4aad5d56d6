import { randomUUID } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pino from 'pino'
import { createEntryLocks } from '../../../src/platform/share/changes/entryLocks'
import { openTemporaries } from '../../../src/platform/share/changes/temporaries'
import { createJail } from '../../../src/platform/share/jail'
import { dropEndedReplicas, registerReplica, type Replica } from '../../../src/platform/state/replicas'
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

describe('the unfinished file of a silent replica', () => {
  const id = randomUUID()
  let silent: Replica
  let other: Replica
  let records: ReturnType<typeof createStoredTemporaries>
  beforeEach(async () => {
    silent = await registerReplica(state.db, log)
    other = await registerReplica(state.db, log)
    await createStoredTemporaries(state.db, silent.id).add(id, '/share/unfinished')
    records = createStoredTemporaries(state.db, other.id)
  })
  afterEach(() => Promise.all([silent.close(), other.close()]))
  const lookTwice = async () => [await records.leftovers(), await records.leftovers()]

  test('is a leftover when the replica was silent for five minutes at two looks in a row', async () => {
    expect(await lookTwice()).toEqual([[], []])
    await age(silent.id, 4)
    expect(await lookTwice()).toEqual([[], []])
    await age(silent.id, 6)
    expect(await lookTwice()).toMatchObject([[], [{ id, path: '/share/unfinished' }]])
    await records.remove(id)
    expect(await records.leftovers()).toEqual([])
  })

  test('is no leftover if the replica could not reach the state for a while and is alive again', async () => {
    await age(silent.id, 6)
    expect(await records.leftovers()).toEqual([])
    await age(silent.id, 0)
    expect(await lookTwice()).toEqual([[], []])
    await age(silent.id, 6)
    expect(await lookTwice()).toMatchObject([[], [{ id }]])
  })

  test('is found after the row of the replica was dropped', async () => {
    await age(silent.id, 6)
    await dropEndedReplicas(state.db)
    expect(await lookTwice()).toMatchObject([[], [{ id }]])
  })
})

test('a replica that is closed leaves no row in the state', async () => {
  const replica = await registerReplica(state.db, log)
  expect(await state.db.selectFrom('replicas').select('id').execute()).toEqual([{ id: replica.id }])
  await replica.close()
  expect(await state.db.selectFrom('replicas').select('id').execute()).toEqual([])
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
