import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { canContain } from '../support/platform/canContain'
import { killLeftovers, readyUrl, runProgram } from '../support/platform/runPlatform'
import { runsOf } from '../support/platform/runsOf'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

const directory = useTemporaryDirectory()

afterAll(killLeftovers)

/** Like a container: its processes end with its first one, which `unshare` kills when it is killed itself. */
const CONTAINER = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0
const isolations = canContain ? ['auto', 'off'] : ['off']

;(canUnshare ? test : test.skip).each(isolations)(
  'instances that ended with the container of the platform, or with its machine, have not crashed (isolation %s)',
  async (isolation) => {
    const dataDir = join(directory(), isolation)
    const run = () =>
      runProgram(
        'main',
        {
          QUARTERDECK_PORT: '0',
          QUARTERDECK_LOG_LEVEL: 'error',
          QUARTERDECK_DATA_DIR: dataDir,
          QUARTERDECK_ISOLATION: isolation,
        },
        CONTAINER,
      )
    const isRunning = () => runsOf(dataDir).some(({ state }) => state === 'RUNNING')
    const first = run()
    await readyUrl(first)
    await until(isRunning)
    const [before] = runsOf(dataDir)
    first.child.kill('SIGKILL')
    await first.exited

    const second = run()
    await readyUrl(second)
    await until(() => isRunning() && runsOf(dataDir)[0]?.runId !== before?.runId)
    const logs = isolation === 'off' ? 'runtime/instances' : 'runtime/contained/logs'
    const printed = readFileSync(join(dataDir, logs, `${before?.podName}.log`), 'utf8')
    expect(printed).toContain('[System] Ended before the machine or the platform’s container was started again.')
    expect(printed).not.toContain('Starting again in')
    second.child.kill('SIGKILL')
    await second.exited
  },
  120_000,
)
