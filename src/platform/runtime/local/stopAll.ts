import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readSettings } from '../../config'
import { StartError } from '../../errors'
import { lockOwner } from '../../processLock'
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
