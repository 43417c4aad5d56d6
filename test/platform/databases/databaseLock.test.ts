import { setTimeout as delay } from 'node:timers/promises'
import { createDatabaseLock } from '../../../src/platform/databases/databaseLock'
import { freshState } from '../../support/platform/freshState'

test('security: while changes wait for a server that hangs, further ones are refused instead of queued', async () => {
  const state = await freshState()
  const withLock = createDatabaseLock(state.pool, 300)
  const hang = () => delay(500, 'done')
  const changes = Array.from({ length: 40 }, (_change, at) =>
    withLock('sql', `plots${at}`, hang).catch((error: { code: string }) => error.code),
  )
  expect(await withLock('mongo', 'plots', async () => 'other type')).toBe('other type')
  const outcomes = await Promise.all(changes)
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(4)
  expect(outcomes.filter((outcome) => outcome === 'UNAVAILABLE')).toHaveLength(36)
  expect(await withLock('sql', 'plots', async () => 'later')).toBe('later')
  await state.close()
})
