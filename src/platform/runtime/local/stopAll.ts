import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { readSettings } from '../../config'
import { StartError } from '../../errors'
import { acquireLock, lockOwner } from '../../processLock'
import { endContainedInstances } from '../contained/containedRuntime'
import { endPlainInstances } from '../openRuntime'

/** A process counts as ended with its first thread; the kernel releases its lock with the last one. */
const RELEASE_MS = 5000

/** `npm run stop:all`: ends the platform, then every instance in order, contained ones and plain processes with their host. */
async function stopAll(): Promise<void> {
  const { dataDir } = readSettings(process.env)
  const lock = join(dataDir, 'platform.lock')
  const platform = lockOwner(lock)
  if (platform !== undefined) {
    console.log('Stopping the platform …')
    process.kill(platform, 'SIGTERM')
    while (lockOwner(lock) === platform) await delay(50)
  }
  // Held until the end of this process: no platform starts meanwhile.
  const deadline = Date.now() + (platform === undefined ? 0 : RELEASE_MS)
  while (existsSync(lock) && !acquireLock(lock)) {
    if (Date.now() < deadline) {
      await delay(50)
      continue
    }
    throw new StartError([`The platform of ${dataDir} runs in another container or on another machine: run this there`])
  }
  const tell = (instances: number) =>
    console.log(`Stopping ${instances} ${instances === 1 ? 'instance' : 'instances'} …`)
  const ended =
    (await endPlainInstances(dataDir, tell)) + (await endContainedInstances(dataDir, pino({ level: 'silent' }), tell))
  console.log(platform === undefined && ended === 0 ? 'Nothing was running.' : 'Everything has ended.')
}

stopAll().catch((error: unknown) => {
  for (const line of error instanceof StartError ? error.lines : [String(error)]) console.error(line)
  process.exit(1)
})
