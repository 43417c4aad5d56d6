import { existsSync } from 'node:fs'
import { StartError } from '../errors'
import {
  containedRecords,
  stopContainedInstances,
  IsolationUnavailable,
  openContainedRuntime,
  type ContainedSettings,
} from './contained/containedRuntime'
import { readJsonFiles } from './jsonFiles'
import { HostClient, instancesDirectory } from './local/hostClient'
import { openLocalRuntime } from './local/localRuntime'
import { withLocalPaths, type LocalPaths } from './localPaths'
import { isRunning, type RunRecord } from './local/runRecord'
import type { Runtime } from './runtime'

export interface RuntimeSettings extends ContainedSettings {
  /**
   * `auto`: containers if their programs are there, and, unless they have worked with this data directory, a trial
   * works; `required`: containers or no start; `off`: plain processes (decisions §12).
   */
  isolation: 'auto' | 'required' | 'off'
  paths: LocalPaths
}

/**
 * Opens the runtime of this machine. First stops instances of the other runtime in order, so that none runs twice; the
 * manager starts them again.
 * @returns the runtime, and, if it runs plain processes although containers were wanted, the reason
 * @throws StartError if isolation is required, or was possible before, but a trial container fails
 */
export async function openRuntime(
  settings: RuntimeSettings,
): Promise<{ runtime: Runtime; plainReason: string | undefined }> {
  const { isolation, dataDir, paths, log } = settings
  let plainReason: string | undefined
  if (isolation !== 'off') {
    try {
      // Before the runtime writes back their files: it takes runs that it does not know for stopped ones.
      const runtime = await openContainedRuntime(settings, () =>
        stopPlainInstances(dataDir, (instances) =>
          log.warn({ instances }, 'stopping instances that run as plain processes; they restart in containers'),
        ),
      )
      return { runtime: withLocalPaths(runtime, paths), plainReason: undefined }
    } catch (error) {
      if (!(error instanceof IsolationUnavailable)) throw error
      if (isolation === 'required')
        throw new StartError([`QUARTERDECK_ISOLATION: instances cannot be isolated here: ${error.message}`])
      // An instance may have caused it: with a full disk, for example. It must not become a process of this user.
      if (!error.isMissing && existsSync(containedRecords(dataDir)))
        throw new StartError([
          `Instances were isolated here before and cannot be now: ${error.message}`,
          'Correct that and start again, or set QUARTERDECK_ISOLATION=off to run them as plain processes, which may do what this user may do.',
        ])
      plainReason = error.message
    }
  }
  await stopContainedInstances(dataDir, log, (instances) =>
    log.warn({ instances }, 'stopping instances that run in containers; they restart as plain processes'),
  )
  return { runtime: withLocalPaths(await openLocalRuntime(settings), paths), plainReason }
}

/**
 * Stops all instances of the host of plain processes in order, then the host.
 * @param onStopping called with the number of instances, unless it is 0. @returns how many instances ran
 */
export async function stopPlainInstances(dataDir: string, onStopping: (instances: number) => void): Promise<number> {
  const found = await HostClient.connect(dataDir)
  const host = found && (await found.hello()) ? found : await openHostForOrphans(dataDir)
  if (!host) return 0
  const running = (await host.call('list')).filter(({ state }) => state !== 'EXITED').length
  if (running > 0) onStopping(running)
  await host.call('shutdown')
  host.close()
  return running
}

/** Instances can outlive a host that was killed. Starts another one, which stops them in order. */
async function openHostForOrphans(dataDir: string): Promise<HostClient | undefined> {
  if (!readJsonFiles<RunRecord>(instancesDirectory(dataDir)).some(isRunning)) return undefined
  return HostClient.open(dataDir, { changed: () => undefined, lines: () => undefined, closed: () => undefined })
}
