import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProgram, killLeftovers, readyUrl, runProgram, type RunningProgram } from '../support/platform/runPlatform'
import { processesOf, signalIfThere } from '../support/platform/processesOf'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

const directory = useTemporaryDirectory()
const dataDir = () => join(directory(), 'data')
const postmasterFile = () => readFileSync(join(dataDir(), 'state/postmaster.pid'), 'utf8')

afterAll(killLeftovers)
afterEach(() => stopHost(dataDir()))

async function start(): Promise<RunningProgram> {
  const platform = runProgram('main', {
    QUARTERDECK_PORT: '0',
    QUARTERDECK_SAMPLE: 'off',
    QUARTERDECK_LOG_LEVEL: 'fatal',
    QUARTERDECK_DATA_DIR: dataDir(),
  })
  await readyUrl(platform)
  expect(platform.output().stderr).toBe('')
  return platform
}

/** The process of the state's PostgreSQL whose title contains a text. */
function processOf(title: string): number | undefined {
  const postmaster = postmasterFile().split('\n')[0]!
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').split(' ').filter(Boolean)
  return children.map(Number).find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(title)
    } catch {
      return false
    }
  })
}

/** Kills a session, as the kernel does when memory is short, and holds the recovery that follows. */
function holdRecovery(): number {
  const session = () => processOf('postgres: quarterdeck ')
  let killed: number | undefined
  // The recovery takes less time than a pause of `until`.
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    const startup = processOf('startup')
    if (startup !== undefined && signalIfThere(startup, 'SIGSTOP')) return startup
    // On a busy machine a recovery may pass unseen: a session after it is a new one, whose end begins another.
    const found = session()
    if (found !== undefined && found !== killed && signalIfThere(found, 'SIGKILL')) killed = found
  }
  throw new Error('PostgreSQL did not begin to recover')
}

// A fast shutdown that is requested during such a recovery never ends: PostgreSQL waits for processes that it does not
// end.
test.each(['SIGTERM', 'SIGKILL'] as const)(
  'security 138: after %s while the PostgreSQL of the state recovers from a killed session, no process is left, and the platform starts again',
  async (signal) => {
    const platform = await start()
    const startup = holdRecovery()
    platform.child.kill(signal)
    await until(() => postmasterFile().includes('stopping'))
    process.kill(startup, 'SIGCONT')
    if (signal === 'SIGTERM') {
      expect(await platform.exited).toBe(0)
      expect(processesOf(dataDir())).toEqual([])
    }
    const next = await start()
    expect(await endProgram(next)).toBe(0)
  },
  120_000,
)
