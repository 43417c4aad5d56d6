import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StartError } from '../../errors'
import { withCopies, type CopyParts } from '../copies'
import type { LocalSpec, Runtime } from '../runtime'
import { openContainedDriver } from './containedDriver'
import { findContainerPrograms } from './containerPrograms'
import { openContainers } from './containers'
import { systemPathsOf } from './prepareContainer'
import { probeIsolation } from './probe'
import { isRunning, openContainedRecords, recordsIn } from './runRecord'

export interface ContainedSettings extends CopyParts {
  shareDir: string
  /** Additional read-only paths with programs (QUARTERDECK_PROGRAMS). */
  programs: string[]
  log: Logger
}

/** The directory of the containers' files, relative to the data directory. */
export const containedBundles = join('runtime', 'contained', 'bundles')

/** Reason why containers do not work here, as a message for the operator. */
export class IsolationUnavailable extends Error {
  /** @param isMissing whether programs are missing, which no instance can cause */
  constructor(
    message: string,
    readonly isMissing = false,
  ) {
    super(message)
  }
}

const directoryOf = (dataDir: string) => join(dataDir, 'runtime', 'contained')

/** The directory with the records of the runs. */
export const containedRecords = (dataDir: string): string => recordsIn(directoryOf(dataDir))

/**
 * Runs instances in local containers: runc, with one conmon each (decisions §12). None of them is a child of the
 * platform, which may be stopped, upgraded or killed: the next one finds every container by its record, continues its
 * console and completes unfinished work.
 * @param beforeRuns called when containers work, before anything is done for recorded runs
 * @throws IsolationUnavailable if programs are missing or containers do not work
 */
export async function openContainedRuntime(
  { shareDir, programs, log, ...copyParts }: ContainedSettings,
  beforeRuns?: () => Promise<unknown>,
): Promise<Runtime<LocalSpec>> {
  const { dataDir } = copyParts
  const found = findContainerPrograms(process.env.PATH ?? '')
  if ('missing' in found)
    throw new IsolationUnavailable(
      `${found.missing.join(', ')} ${found.missing.length === 1 ? 'is' : 'are'} not installed`,
      true,
    )
  const directory = directoryOf(dataDir)
  const isRootless = process.getuid?.() !== 0
  const containers = await openContainers({ directory, programs: found, isRootless })
  const system = systemPathsOf(programs)
  const isolation = await probeIsolation(
    containers,
    directory,
    { isRootless, system, hidden: [dataDir, shareDir] },
    dataDir,
    log,
  ).catch((error: unknown) => {
    throw new IsolationUnavailable(
      `a trial container did not work: ${error instanceof Error ? error.message.trim() : String(error)}`,
    )
  })
  await beforeRuns?.()
  return withCopies(await openContainedDriver({ directory, isolation, containers, log }), copyParts)
}

/**
 * Stops all containers that an earlier platform left running, in order.
 * @param onStopping called with the number of instances, unless it is 0.
 * @returns how many instances ran.
 * @throws StartError if the required programs are missing
 */
export async function stopContainedInstances(
  dataDir: string,
  log: Logger,
  onStopping: (instances: number) => void,
): Promise<number> {
  const directory = directoryOf(dataDir)
  if (!existsSync(containedRecords(dataDir))) return 0
  if (!openContainedRecords(containedRecords(dataDir), log).all().some(isRunning)) return 0
  const found = findContainerPrograms(process.env.PATH ?? '')
  if ('missing' in found)
    throw new StartError([
      `Instances still run in containers, but ${found.missing.join(', ')}, which is needed to stop them, is no longer installed: install it`,
    ])
  const isRootless = process.getuid?.() !== 0
  const containers = await openContainers({ directory, programs: found, isRootless })
  const driver = await openContainedDriver({
    directory,
    isolation: {
      isRootless,
      cgroupParent: undefined,
      hasRecursiveReadOnly: false,
      system: { readable: [], path: '' },
      hidden: [],
    },
    containers,
    log,
  })
  try {
    const running = async () => (await driver.list()).filter(({ state }) => state !== 'EXITED')
    const left = await running()
    if (left.length > 0) onStopping(left.length)
    for (const { podName } of left) await driver.stop(podName)
    while ((await running()).length > 0) await delay(50)
    return left.length
  } finally {
    await driver.close()
  }
}
