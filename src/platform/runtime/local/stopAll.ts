import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readSettings } from '../../config'
import { StartError } from '../../errors'
import { acquireLock, lockOwner } from '../../processLock'
import { HostClient } from './hostClient'

/** `npm run stop:all`: ends the platform, then every instance gracefully, then their host. */
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
  if (existsSync(lock) && !acquireLock(lock)) {
    throw new StartError([`The platform of ${dataDir} runs in another container or on another machine: run this there`])
  }
  const host = await HostClient.connect(dataDir)
  if (host) {
    await host.hello()
    const running = (await host.call('list')).filter(({ state }) => state !== 'EXITED').length
    console.log(`Stopping ${running} ${running === 1 ? 'instance' : 'instances'} …`)
    await host.call('shutdown')
    host.close()
  }
  console.log(platform === undefined && !host ? 'Nothing was running.' : 'Everything has ended.')
}

stopAll().catch((error: unknown) => {
  for (const line of error instanceof StartError ? error.lines : [String(error)]) console.error(line)
  process.exit(1)
})
