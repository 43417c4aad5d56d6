import { warnOfClock } from '../../../src/platform/state/clockWatch'
import { freshState, type FreshState } from '../../support/platform/freshState'

let state: FreshState
beforeAll(async () => {
  state = await freshState()
})
afterAll(() => state.close())

test.each([
  [0, undefined],
  [10, undefined],
  [-300, /^the clock of PostgreSQL is (?:299|300|301) s ahead of this machine's: .* expire too early/],
  [300, /^the clock of PostgreSQL is (?:299|300|301) s behind this machine's: .* expire too late/],
])(
  'a warning is logged only if the clocks of machine and PostgreSQL differ by too much (%d s)',
  async (seconds, expected) => {
    const warnings: string[] = []
    await warnOfClock({
      db: state.db,
      log: { warn: (_details: object, text: string) => void warnings.push(text) } as never,
      now: () => Date.now() + 1000 * seconds,
    })
    expect(warnings).toEqual(expected ? [expect.stringMatching(expected)] : [])
  },
)
