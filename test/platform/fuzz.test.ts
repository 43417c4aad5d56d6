import { seedOf } from '../support/platform/fuzz/random'
import { FUZZ_KINDS, startFuzzer, type Fuzzer } from '../support/platform/fuzz/fuzzPlatform'

/** Bounded and reproducible: `npm run bench -- fuzz` tries other seeds for longer. FUZZ_SEED sets the seed. */
const seed = seedOf(1)
const CASES = { routes: 1500, multipart: 250, definitions: 250, archives: 24, console: 100, realtime: 100 }
const SECONDS = { routes: 5, multipart: 2, definitions: 1, archives: 2, console: 1, realtime: 1 }

let fuzzer: Fuzzer

beforeAll(async () => {
  fuzzer = await startFuzzer(seed)
}, 60_000)
afterAll(() => fuzzer?.close())

test.each(FUZZ_KINDS)(
  `fuzz with seed ${seed}: no %s causes a response of 500 or an error in the log`,
  async (kind) => {
    const { cases, findings } = await fuzzer.run(kind, { cases: CASES[kind], seconds: SECONDS[kind] })
    expect(cases).toBeGreaterThan(0)
    expect(findings).toEqual([])
  },
  60_000,
)

test(`fuzz with seed ${seed}: afterwards the platform works, and no resource is left open, unfinished or held`, async () => {
  expect(await fuzzer.troubles()).toEqual([])
}, 60_000)
