import { EventEmitter } from 'node:events'
import { existsSync, watch, type FSWatcher } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StartError } from '../../errors'
import { withCopies, type CopyParts } from '../copies'
import { pidNamespaceOf, usageByNamespace } from '../processes'
import type { Driver, Runtime, Usage } from '../runtime'
import { cgroupVersion, usageOfGroup } from './cgroups'
import { isMonitorAlive } from './conmon'
import { ContainedInstance, type ContainedParts } from './containedInstance'
import { findContainerPrograms } from './containerPrograms'
import { openContainers } from './containers'
import { createContainerPreparation, systemPathsOf, type Isolation } from './prepareContainer'
import { probeIsolation } from './probe'
import { openRunRecords } from './runRecord'

/** Fallback poll: inotify can lose events, and a killed conmon reports nothing. */
const CHECK_INTERVAL_MS = 1000

export interface ContainedSettings extends CopyParts {
  shareDir: string
  /** Additional read-only paths with programs (QUARTERDECK_PROGRAMS). */
  programs: string[]
  log: Logger
}

/** Reason why containers do not work here, as a message for the operator. */
export class IsolationUnavailable extends Error {}

const directoryOf = (dataDir: string) => join(dataDir, 'runtime', 'contained')

/**
 * Runs instances in local containers: runc, with one conmon each (decisions §12). None of them is a child of the
 * platform, which may be stopped, upgraded or killed: the next one finds every container by its record, continues its
 * console and completes unfinished work.
 * @throws IsolationUnavailable if programs are missing or containers do not work
 */
export async function openContainedRuntime({
  shareDir,
  programs,
  log,
  ...copyParts
}: ContainedSettings): Promise<Runtime> {
  const { dataDir } = copyParts
  const found = findContainerPrograms(process.env.PATH ?? '')
  if ('missing' in found)
    throw new IsolationUnavailable(
      `${found.missing.join(', ')} ${found.missing.length === 1 ? 'is' : 'are'} not installed`,
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
  ).catch((error: unknown) => {
    throw new IsolationUnavailable(
      `a trial container did not work: ${error instanceof Error ? error.message.trim() : String(error)}`,
    )
  })
  return withCopies(await openDriver({ directory, isolation, containers, log }), copyParts)
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
  if (!existsSync(join(directory, 'runs'))) return 0
  const isAnyRunning = openRunRecords(join(directory, 'runs'), log)
    .all()
    .some(({ state, monitor }) => state !== 'EXITED' && monitor !== undefined && isMonitorAlive(monitor))
  if (!isAnyRunning) return 0
  const found = findContainerPrograms(process.env.PATH ?? '')
  if ('missing' in found)
    throw new StartError([
      `Instances still run in containers, and ${found.missing.join(', ')} to end them with is not installed any more: install it`,
    ])
  const isRootless = process.getuid?.() !== 0
  const containers = await openContainers({ directory, programs: found, isRootless })
  const driver = await openDriver({
    directory,
    isolation: { isRootless, cgroupParent: undefined, system: { readable: [], path: '' }, hidden: [] },
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

async function openDriver({
  directory,
  isolation,
  containers,
  log,
}: {
  directory: string
  isolation: Isolation
  containers: ContainedParts['containers']
  log: Logger
}): Promise<Driver> {
  const changes = new EventEmitter()
  const records = openRunRecords(join(directory, 'runs'), log)
  const instances = new Map<string, ContainedInstance>()
  const prepareContainer = createContainerPreparation({ directory, isolation, log })
  const parts: ContainedParts = {
    containers,
    records,
    system: isolation.system,
    log,
    prepareContainer,
    onChange: () => changes.emit('changed'),
  }

  function instanceOf(podName: string): ContainedInstance {
    const known = instances.get(podName) ?? new ContainedInstance(podName, parts)
    instances.set(podName, known)
    return known
  }

  const checkSafely = (instance: ContainedInstance | undefined) => {
    instance
      ?.check()
      .catch((error: unknown) =>
        log.error(
          { err: error, podName: instance.podName },
          'the end of an instance could not be dealt with; it is tried again',
        ),
      )
  }
  const watchers = [
    watchNames(join(directory, 'logs'), log, (name) => instances.get(basename(name, '.log'))?.console.poll()),
    watchNames(containers.exitDirectory, log, (name) =>
      checkSafely([...instances.values()].find(({ record }) => record?.containerId === name)),
    ),
  ]
  for (const record of records.all()) {
    await instanceOf(record.podName)
      .takeOver(record)
      .catch((error: unknown) => log.error({ err: error, podName: record.podName }, 'a run could not be taken over'))
  }
  // If a full disk prevented the record of a run, its container is unknown to every later platform.
  const known = new Set([...instances.values()].map(({ record }) => record?.containerId))
  for (const id of await containers.list()) {
    if (!known.has(id))
      await containers
        .remove(id)
        .catch((error: unknown) =>
          log.error({ err: error, id }, 'a container that no run belongs to could not be removed'),
        )
  }
  const timer = setInterval(() => {
    for (const instance of instances.values()) {
      if (!instance.isRunning) continue
      instance.console.poll()
      checkSafely(instance)
    }
  }, CHECK_INTERVAL_MS)

  const hasLimits = isolation.cgroupParent !== undefined
  return {
    isolation: 'contained',
    limits: hasLimits
      ? `CPU, memory and processes by cgroup v${cgroupVersion() ?? 2}`
      : 'not enforced: control groups cannot be written here',
    enforced: { cpu: hasLimits, memory: hasLimits },
    async ensure(spec) {
      await instanceOf(spec.podName).start(spec)
    },
    async startFailed(spec, failure) {
      await instanceOf(spec.podName).startFailed(spec, failure)
    },
    async stop(podName) {
      instances.get(podName)?.stop()
    },
    async kill(podName) {
      instances.get(podName)?.kill()
    },
    async remove(podName) {
      const instance = instanceOf(podName)
      if (instance.isRunning) return
      instances.delete(podName)
      await instance.close()
      await instance.console.remove()
      records.remove(podName)
    },
    async list() {
      return [...instances.values()].flatMap(({ record }) => {
        if (!record) return []
        const { podName, runId, state, ip, port, startedAt, exit } = record
        return [{ podName, runId, state, ip, port, startedAt, exit }]
      })
    },
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    history: (podName, lines) => instanceOf(podName).console.history(lines),
    follow: (podName, since, listener) => instanceOf(podName).console.follow(since, listener),
    note: (podName, text) => instanceOf(podName).console.note(text),
    write: async (podName, line) => instances.get(podName)?.write(line) ?? false,
    sample: async () => sampleUsage([...instances.values()]),
    async close() {
      clearInterval(timer)
      for (const watcher of watchers) watcher?.close()
      await Promise.all([...instances.values()].map((instance) => instance.close()))
    },
  }
}

/** Calls back with the names of changed entries of a directory. Without inotify the timer polls instead. */
function watchNames(directory: string, log: Logger, onName: (name: string) => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, (_event, name) => {
      if (name !== null) onName(name)
    })
    watcher.on('error', (error) => log.warn({ err: error }, 'output of instances is looked for once a second only'))
    return watcher
  } catch (error) {
    log.warn({ err: error }, 'output of instances is looked for once a second only')
    return undefined
  }
}

function sampleUsage(instances: ContainedInstance[]): Usage[] {
  const running = instances.flatMap(({ record, isRunning }) =>
    record && isRunning && record.containerId !== undefined ? [record] : [],
  )
  const byNamespace = running.some(({ cgroup }) => cgroup === undefined) ? usageByNamespace() : undefined
  return running.flatMap(({ podName, runId, cgroup, pid }) => {
    const used =
      cgroup === undefined ? byNamespace?.get((pid !== undefined && pidNamespaceOf(pid)) || '') : usageOfGroup(cgroup)
    return used ? [{ podName, runId, cpuMs: used.cpuMs, memoryBytes: used.memoryBytes }] : []
  })
}
