/** @jest-environment node */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callRules } from '../../../src/web/actionLog/redact/redaction'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { readLog } from '../../../src/web/actionLog/replay/readLog'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { reportReplay } from '../../../src/web/actionLog/replay/reportReplay'
import { api } from '../../../src/web/api/api'

const root = join(__dirname, '../../..')
const folder = join(root, 'test/replays')
const logs = readdirSync(folder).filter((name) => name.endsWith('.json'))

test.each(logs)(
  'the recording %s replays to the same states (after an intended change: npm run replay -- --update test/replays/*.json)',
  (name) => {
    const log = readLog(readFileSync(join(folder, name), 'utf8'))
    expect(log.actions.length).toBeGreaterThan(50)
    expect(reportReplay(log, replayLog(log, replayReducer))).toEqual([])
  },
)

// If the definition of an endpoint is missing, its calls change nothing, and the reducer throws.
test('the replay reducer includes all endpoints of the console', () =>
  expect(Object.keys(callRules).filter((endpoint) => !Object.hasOwn(api.endpoints, endpoint))).toEqual([]))

describe('npm run replay', () => {
  const directory = mkdtempSync(join(tmpdir(), 'quarterdeck-replay-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  const walk = join(folder, logs[0]!)

  /** Runs the replay script of package.json with a preloaded module. */
  const run = (args: string[], before = '') => {
    const preload = join(directory, 'before.js')
    writeFileSync(preload, before)
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--require', 'tsx/cjs', '--require', preload, 'test/replays/replay.ts', ...args],
      { cwd: root, encoding: 'utf8' },
    )
    return { status, said: stdout + stderr }
  }

  test('exits with 0 if the replay matches the recording', () => {
    expect(run([walk])).toEqual({ status: 0, said: expect.stringMatching(/\d+ actions, as recorded/) })
  }, 60_000)

  test('exits with 1 for a broken reducer and prints the action, the changed state and the new value', () => {
    const broken = `
      const { themeSlice } = require(${JSON.stringify(join(root, 'src/web/app/themeSlice.ts'))})
      const { reducer } = themeSlice
      themeSlice.reducer = (state, action) => action.type === 'theme/themeChosen' ? 'broken' : reducer(state, action)`
    const { status, said } = run([walk], broken)
    expect(status).toBe(1)
    expect(said).toMatch(
      /not as recorded\n {2}action \d+ at [\d.]+ s: theme\/themeChosen\n {4}differs from the recording in: theme/,
    )
    expect(said).toMatch(/the final state\n {4}theme\n {6}- recorded: "dark"\n {6}\+ now: "broken"/)
  }, 60_000)

  test('supports --until and --print, and rejects a file that is not an action log', () => {
    const { status, said } = run(['--until', '3', '--print', walk])
    expect(status).toBe(0)
    expect(said).toMatch(/^0 [\d.]+ s \S+/m)
    expect(said).toMatch(/ → /)
    expect(said).toContain('4 actions, as recorded')
    const other = join(directory, 'other.json')
    writeFileSync(other, '{}')
    expect(run([other])).toEqual({ status: 1, said: expect.stringContaining('not an action log') })
    expect(run([])).toEqual({ status: 2, said: expect.stringContaining('npm run replay -- [options] FILE') })
  }, 60_000)
})
