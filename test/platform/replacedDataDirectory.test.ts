import { execFileSync } from 'node:child_process'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isGone } from '../support/platform/processesOf'
import { endProgram, killLeftovers, readyUrl, runProgram } from '../support/platform/runPlatform'
import { pidOfRun, runsOf } from '../support/platform/runsOf'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

jest.setTimeout(300_000)

const directory = useTemporaryDirectory()

afterAll(killLeftovers)

describe.each(['auto', 'off'])(
  'with isolation %s, a data directory that is replaced while its instances run',
  (isolation) => {
    const dataDir = () => join(directory(), isolation)
    const run = () =>
      runProgram('main', {
        QUARTERDECK_PORT: '0',
        QUARTERDECK_LOG_LEVEL: 'error',
        QUARTERDECK_DATA_DIR: dataDir(),
        QUARTERDECK_ISOLATION: isolation,
      })
    const stopAll = () =>
      runProgram('runtime/local/stopAll', { QUARTERDECK_DATA_DIR: dataDir(), QUARTERDECK_PORT: '0' })
    const sampleRuns = () =>
      until(
        () => runsOf(dataDir()),
        ([sample]) => sample?.state === 'RUNNING',
      )

    afterAll(() => stopHost(dataDir()))

    test('security 205: by a backup is refused until these instances have ended, so that none runs twice', async () => {
      const first = run()
      await readyUrl(first)
      await sampleRuns()
      await endProgram(first)
      const pid = pidOfRun(dataDir())
      execFileSync('cp', ['-a', dataDir(), `${dataDir()}.backup`])
      rmSync(dataDir(), { recursive: true })
      renameSync(`${dataDir()}.backup`, dataDir())
      let named: number[] = []
      for (const start of [run, stopAll]) {
        const program = start()
        expect(await program.exited).toBe(1)
        const [, pids = ''] =
          /end those that it does not know first \(kill ([\d ]+)\)/.exec(program.output().stderr) ?? []
        named = pids.split(' ').map(Number)
        expect(named).toContain(pid)
      }
      expect(isGone(pid)).toBe(false)

      for (const other of named) process.kill(other, 'SIGKILL')
      const second = run()
      await readyUrl(second)
      await until(() => runsOf(dataDir()).some(({ state }) => state === 'RUNNING') && pidOfRun(dataDir()) !== pid)
      await endProgram(second)
    })
  },
)

test('of a data directory that does not exist, stop:all reports that nothing was running', async () => {
  const program = runProgram('runtime/local/stopAll', {
    QUARTERDECK_DATA_DIR: join(directory(), 'missing'),
    QUARTERDECK_PORT: '0',
  })
  expect(await program.exited).toBe(0)
  expect(program.output().stdout).toBe('Nothing was running.\n')
})
