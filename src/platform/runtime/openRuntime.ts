import { StartError } from '../errors'
import {
  endContainedInstances,
  IsolationUnavailable,
  openContainedRuntime,
  type ContainedSettings,
} from './contained/containedRuntime'
import { HostClient, instancesDirectory } from './local/hostClient'
import { openLocalRuntime } from './local/localRuntime'
import { isRunning, readRunRecords } from './local/runRecord'
import type { Runtime } from './runtime'

export interface RuntimeSettings extends ContainedSettings {
  /** `auto`: contained where that works; `required`: not otherwise; `off`: plain processes (decisions §12). */
  isolation: 'auto' | 'required' | 'off'
}

/**
 * Opens the runtime of this machine. Instances that still run the other way are stopped in order first, so that none runs
 * twice; the manager starts them again.
 * @returns the runtime, and why it is a plain one although containers were wanted
 * @throws StartError where isolation is required and not possible
 */
export async function openRuntime(
  settings: RuntimeSettings,
): Promise<{ runtime: Runtime; whyPlain: string | undefined }> {
  const { isolation, dataDir, log } = settings
  let whyPlain: string | undefined
  if (isolation !== 'off') {
    try {
      const runtime = await openContainedRuntime(settings)
      await endPlainInstances(dataDir, (instances) =>
        log.warn({ instances }, 'instances that run as plain processes are stopped; they start again in containers'),
      )
      return { runtime, whyPlain: undefined }
    } catch (error) {
      if (!(error instanceof IsolationUnavailable)) throw error
      if (isolation === 'required')
        throw new StartError([`QUARTERDECK_ISOLATION: instances cannot be isolated here: ${error.message}`])
      whyPlain = error.message
    }
  }
  await endContainedInstances(dataDir, log, (instances) =>
    log.warn({ instances }, 'instances that run in containers are stopped; they start again as plain processes'),
  )
  return { runtime: await openLocalRuntime(settings), whyPlain }
}

/**
 * Ends what runs under the host of plain processes, in order, and the host.
 * @param onStopping is told how many instances are stopped, unless there are none. @returns how many instances ran.
 */
export async function endPlainInstances(dataDir: string, onStopping: (instances: number) => void): Promise<number> {
  const found = await HostClient.connect(dataDir)
  const host = found && (await found.hello()) ? found : await hostOfLeftInstances(dataDir)
  if (!host) return 0
  const running = (await host.call('list')).filter(({ state }) => state !== 'EXITED').length
  if (running > 0) onStopping(running)
  await host.call('shutdown')
  host.close()
  return running
}

/** Instances can outlive their host. Another one then stops them in order. */
async function hostOfLeftInstances(dataDir: string): Promise<HostClient | undefined> {
  if (!readRunRecords(instancesDirectory(dataDir)).some(isRunning)) return undefined
  return HostClient.open(dataDir, { changed: () => undefined, lines: () => undefined, closed: () => undefined })
}
