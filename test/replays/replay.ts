import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { replayLog } from '../../src/web/actionLog/replay/checkLog'
import { build } from '../../src/web/actionLog/build'
import { findingsOf } from '../../src/web/actionLog/replay/findings'
import { hashOf } from '../../src/web/actionLog/replay/hash'
import { checkSize, LogFault, readLog } from '../../src/web/actionLog/replay/readLog'
import { checksumOf } from '../../src/web/actionLog/replay/checksum'
import { replayReducer } from '../../src/web/actionLog/replay/replayReducer'
import { printReplay, reportReplay } from '../../src/web/actionLog/replay/reportReplay'

const USAGE = `npm run replay -- [options] FILE…

Replays action logs without a browser, and compares the state after each action with the recorded one. Exits with code 1
if a state differs.

  --until N   stop after action N (zero-based)
  --print     print each action and the changes that it makes
  --update    write the new states to the files; only for intended changes: check the differences first`

function main(): number {
  let options
  try {
    options = parseArgs({
      allowPositionals: true,
      options: { until: { type: 'string' }, print: { type: 'boolean' }, update: { type: 'boolean' } },
    })
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  const { values, positionals } = options
  const until = values.until === undefined ? undefined : Number(values.until)
  if (positionals.length === 0 || (until !== undefined && !(Number.isInteger(until) && until >= 0))) {
    console.error(USAGE)
    return 2
  }
  const results = positionals.map((file) => replayFile(file, until, values))
  return results.every(Boolean) ? 0 : 1
}

/** @returns whether all states are as recorded. */
function replayFile(
  file: string,
  until: number | undefined,
  { print = false, update = false }: { print?: boolean; update?: boolean },
): boolean {
  let log
  let replay
  try {
    checkSize(statSync(file).size)
    log = readLog(readFileSync(file, 'utf8'))
    replay = replayLog(log, replayReducer, until)
  } catch (error) {
    console.error(`${file}: ${error instanceof LogFault ? error.message : (error as Error).message}`)
    return false
  }
  if (print) console.log(printReplay(log, replay).join('\n'))
  const report = reportReplay(log, replay)
  if (update && until === undefined && report.length > 0) {
    const final = replay.steps.at(-1)?.state ?? replay.base
    const actions = log.actions.map((action, index) => ({ ...action, changed: replay.steps[index]?.changed ?? {} }))
    const updated = { ...log, actions, final, hash: hashOf(final) }
    writeFileSync(file, `${JSON.stringify({ ...updated, sum: checksumOf(updated) })}\n`)
    console.log(`${file}: updated; what differed:\n${report.join('\n')}`)
    return true
  }
  for (const finding of findingsOf(log, replay, build)) console.log(`${file}: ${finding}`)
  if (report.length === 0) console.log(`${file}: ${replay.steps.length} actions, as recorded`)
  else console.error(`${file}: not as recorded\n${report.join('\n')}`)
  return report.length === 0
}

process.exitCode = main()
