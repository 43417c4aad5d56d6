import '../../noDebugger'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { readSettings } from '../../config'
import { StartError } from '../../errors'
import { lockOwner, takeLock } from '../../processLock'
import { stopContainedInstances } from '../contained/containedRuntime'
import { requireOwnRuns } from '../copiedRuns'
import { stopPlainInstances } from '../openRuntime'
import { requireNoEarlierRuns, requireVisibleRuns } from '../replacedDirectory'

/** A process counts as ended when its first thread exits; the kernel releases its lock with the last thread. */
const RELEASE_MS = 5000

/** `npm run stop:all`: stops the platform, then every instance in order, and the host of plain processes. */
async function stopAll(): Promise<void> {
  const { dataDir } = readSettings(process.env)
  const lock = join(dataDir, 'platform.lock')
  const platform = lockOwner(lock)
  if (platform !== undefined) {
    console.log('Stopping the platform …')
    process.kill(platform, 'SIGTERM')
    while (lockOwner(lock) === platform) await delay(50)
  }
  // Hold the lock until this process exits, so that no platform starts in the meantime.
  const deadline = performance.now() + (platform === undefined ? 0 : RELEASE_MS)
  while (existsSync(lock) && !takeLock(lock)) {
    if (performance.now() < deadline) {
      await delay(50)
      continue
    }
    throw new StartError([
      `The platform of ${dataDir} runs in another container or on another machine: run this command there`,
    ])
  }
  requireOwnRuns(dataDir)
  requireVisibleRuns(dataDir)
  await requireNoEarlierRuns(dataDir)
  const printStopping = (instances: number) =>
    console.log(`Stopping ${instances} ${instances === 1 ? 'instance' : 'instances'} …`)
  const ended =
    (await stopPlainInstances(dataDir, printStopping)) +
    (await stopContainedInstances(dataDir, pino({ level: 'silent' }), printStopping))
  console.log(platform === undefined && ended === 0 ? 'Nothing was running.' : 'Everything has ended.')
}

stopAll().catch((error: unknown) => {
  for (const line of error instanceof StartError ? error.lines : [String(error)]) console.error(line)
  process.exit(1)
})
