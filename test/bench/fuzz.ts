import { randomInt } from 'node:crypto'
import { seedOf } from '../support/platform/fuzz/random'
import { FUZZ_KINDS, startFuzzer } from '../support/platform/fuzz/fuzzPlatform'

/**
 * Sends malformed requests, forms, definitions, archives and socket messages, one kind after another, for as long as
 * given.
 */
const MINUTES = Number(process.env.BENCH_MINUTES ?? 10)
const seed = seedOf(randomInt(2 ** 31))
/** The time per kind before the next one. */
const SECONDS = 15

let found = 0
function tell(problem: string): void {
  found += 1
  console.error(problem)
}

async function main(): Promise<void> {
  console.log(`FUZZ_SEED=${seed}`)
  // An unhandled error would end the platform; here it is reported with the input that was sent last.
  process.on('uncaughtException', (error) => tell(`not handled: ${error.stack ?? error.message}`))
  process.on('unhandledRejection', (error) =>
    tell(`not handled: ${error instanceof Error ? error.stack : String(error)}`),
  )
  const fuzzer = await startFuzzer(seed)
  try {
    let first = 0
    for (const end = Date.now() + MINUTES * 60_000; Date.now() < end;) {
      for (const kind of FUZZ_KINDS) {
        const { cases, statuses, findings } = await fuzzer.run(kind, { cases: 1_000_000, seconds: SECONDS, first })
        console.log(`${kind}: ${cases} cases from ${first}, ${JSON.stringify(statuses)}`)
        findings.forEach(tell)
      }
      ;(await fuzzer.troubles()).forEach(tell)
      // The same number gives a different case for each kind, and no case repeats.
      first += 1_000_000
    }
  } finally {
    await fuzzer.close()
  }
  console.log(found === 0 ? 'nothing was found' : `${found} findings`)
  process.exitCode = found === 0 ? 0 : 1
}

void main()
