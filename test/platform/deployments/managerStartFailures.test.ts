import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { reconcile } from '../../../src/platform/deployments/reconcile/reconcile'
import { HostClient } from '../../../src/platform/runtime/local/hostClient'
import { hasProgram } from '../../support/platform/hasProgram'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { hungDiskMissing, mountDeadDisk } from '../../support/platform/hungDisk'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { deployments, passParts, add, stateOf, consoleOf } = managed

let host: HostClient
beforeAll(async () => void (host = (await HostClient.connect(managed.directory()))!))
afterAll(() => host.close())

/** Limits the open files of the host. Those that are open stay so. */
async function limitFilesOfHost(limit: number): Promise<void> {
  const { pid } = await host.call('hello')
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:`])
}

// Without a descriptor, the host would not answer to what cleans up after a failed test.
afterEach(() => limitFilesOfHost(1024))

const TOO_MANY = 'Could not be started: too many files are open at once. The platform tries again.'

;(hasProgram('prlimit') ? describe : describe.skip)('at a limit of the machine (skipped without prlimit)', () => {
  test('security 219: a start that fails for lack of open files or processes is retried with growing delays, and never counts as a crash', async () => {
    await add('bot', FOREVER)
    let ahead = 0
    const parts = passParts({ now: () => Date.now() + ahead })
    const failures = async () => (await consoleOf('bot')).filter((line) => line.includes('too many files')).length
    await limitFilesOfHost(8)
    const delays: number[] = []
    for (let attempt = 1; attempt <= 8; attempt++) {
      await reconcile(parts)
      await until(failures, (count) => count === attempt)
      const delay = (await until(() => reconcile(parts)))!
      expect(await stateOf('bot')).toBe('BLOCKED')
      expect((await deployments().instances('bot'))[0]).toMatchObject({ blockedReason: TOO_MANY, restarts: 0 })
      delays.push(Math.ceil(delay / 1000))
      ahead += delay
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect((await consoleOf('bot')).slice(-2)).toEqual([
      '[System] Could not be started: too many files are open at once.',
      '[System] Trying again in 60 s.',
    ])
    await limitFilesOfHost(1024)
    await reconcile(parts)
    await until(async () => (await stateOf('bot')) === 'RUNNING')
  })
})

;(hungDiskMissing === undefined ? test : test.skip)(
  `security 232: an instance whose files may not be read for its copy is blocked with the reason, is no crash, and starts once they may${hungDiskMissing === undefined ? '' : ` (${hungDiskMissing})`}`,
  async () => {
    mkdirSync(join(managed.shareDir(), 'lobby'), { recursive: true })
    const makeReadable = mountDeadDisk(join(managed.shareDir(), 'lobby/maps'), 1)
    await add('lobby', FOREVER, 'data: copy\n')
    let ahead = 0
    const parts = passParts({ now: () => Date.now() + ahead })
    try {
      await reconcile(parts)
      await until(
        () => consoleOf('lobby'),
        (lines) => lines.some((line) => line.includes('may not read')),
      )
      ahead += (await until(() => reconcile(parts)))!
      expect((await deployments().instances('lobby'))[0]).toMatchObject({
        state: 'BLOCKED',
        blockedReason:
          'Could not be started: its files could not be copied (The platform may not read "maps". Allow its user to, or move it out of the directory.). The platform tries again.',
        restarts: 0,
      })
      expect((await consoleOf('lobby')).at(-1)).toBe('[System] Trying again in 1 s.')
    } finally {
      makeReadable()
    }
    await reconcile(parts)
    await until(async () => (await stateOf('lobby')) === 'RUNNING')
  },
)
