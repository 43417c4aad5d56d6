import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { LogRow } from '../../../../src/platform/runtime/kubernetes/console/podLog'
import { storeInBatches } from '../../../../src/platform/runtime/kubernetes/console/rowBatches'
import { until } from '../../../support/platform/until'

/** Prints until `isOver` is set. */
async function* flood(text: string, printed: { count: number; isOver: boolean }): AsyncGenerator<LogRow[]> {
  while (!printed.isOver) {
    yield Array.from({ length: 100 }, () => ({ time: '000000000001.000000000', text }))
    printed.count += 100
    await nextTurn()
  }
}

test.each([
  ['empty lines', '', 20_000],
  ['short lines', 'x'.repeat(100), 10_000],
])('security 62: while the state is slow, a flood of %s is not read ahead without bound', async (_what, text, most) => {
  const printed = { count: 0, isOver: false }
  let goOn: () => void = () => undefined
  const slow = new Promise<void>((resolve) => (goOn = resolve))
  let stored = 0
  const ended = storeInBatches(
    flood(text, printed),
    () => true,
    async (rows) => {
      await slow
      stored += rows.length
    },
    () => undefined,
  )
  // A flood that is read ahead without bound never pauses.
  let before = 0
  await until(async () => {
    before = printed.count
    await delay(300)
    return before > 0 && printed.count === before
  })
  expect(before).toBeLessThan(most)
  printed.isOver = true
  goOn()
  await ended
  expect(stored).toBeGreaterThanOrEqual(before)
})
