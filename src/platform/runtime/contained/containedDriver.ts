import { EventEmitter } from 'node:events'
import { watch, type FSWatcher } from 'node:fs'
import { basename, join } from 'node:path'
import type { Logger } from 'pino'
import { pidNamespaceOf, usageByNamespace } from '../processes'
import type { Driver, Usage } from '../runtime'
import { cgroupVersion, removeEmptyGroups, usageOfGroup } from './cgroups'
import { ContainedInstance, type ContainedParts } from './containedInstance'
import type { Containers } from './containers'
import { createContainerPreparation, type Isolation } from './prepareContainer'
import type { RunRecords } from '../runRecords'
import { openContainedRecords, recordsIn, type RunRecord } from './runRecord'

/** Fallback poll: inotify can lose events, and a killed conmon reports nothing. */
const CHECK_INTERVAL_MS = 1000
/** Interval of attempts to remove containers that runc could not remove, for example at the limit of processes. */
const REMOVAL_INTERVAL_MS = 10_000

export interface ContainedDriverParts {
  /** The platform's directory of containers and their records. */
  directory: string
  isolation: Isolation
  containers: Containers
  log: Logger
}

/**
 * Runs instances in containers. Takes over the runs of an earlier platform, and removes containers without a record.
 */
export async function openContainedDriver({
  directory,
  isolation,
  containers,
  log,
}: ContainedDriverParts): Promise<Driver> {
  const changes = new EventEmitter()
  const records = openContainedRecords(recordsIn(directory), log)
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

  const closeWatchers = watchFiles(directory, containers, instances, log)
  await takeOverRuns(records, instanceOf, log)
  const removeUnknown = createContainerRemoval(containers, instances, log)
  await removeUnknown()
  if (isolation.cgroupParent !== undefined) await removeEmptyGroups(isolation.cgroupParent)
  const timer = setInterval(() => {
    records.storeMissing()
    for (const instance of instances.values()) {
      if (!instance.isRunning) continue
      instance.console.poll()
      checkSafely(instance, log)
    }
  }, CHECK_INTERVAL_MS)
  const removalTimer = setInterval(() => void removeUnknown(), REMOVAL_INTERVAL_MS)

  const hasLimits = isolation.cgroupParent !== undefined
  return {
    isolation: 'contained',
    sharesPorts: true,
    usesReplicas: true,
    limits: hasLimits
      ? `CPU, memory and processes by cgroup v${cgroupVersion() ?? 2}`
      : isolation.limitsFailed
        ? 'not enforced: a trial container with limits did not work, as where cgroups are not writable (see the platform’s log)'
        : 'not enforced: cgroups are not writable here',
    enforced: { cpu: hasLimits, memory: hasLimits },
    async ensure(spec) {
      await instanceOf(spec.podName).start(spec)
    },
    async startFailed(spec, failure, isTemporary) {
      await instanceOf(spec.podName).startFailed(spec, { failure, isTemporary })
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
        const { podName, runId, state, ip, port, startedAt, exit, pid, pidStartTime: startTime } = record
        // Its processes end with the first one.
        const first = pid === undefined || state === 'EXITED' ? undefined : { pid, startTime }
        return [{ podName, runId, state, ip, port, startedAt, exit, process: first }]
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
      clearInterval(removalTimer)
      records.storeMissing()
      closeWatchers()
      await Promise.all([...instances.values()].map((instance) => instance.close()))
    },
  }
}

/** Follows the logs and the ends of the containers by inotify. @returns a function that stops it */
function watchFiles(
  directory: string,
  containers: Containers,
  instances: ReadonlyMap<string, ContainedInstance>,
  log: Logger,
): () => void {
  const watchers = [
    watchNames(join(directory, 'logs'), log, (name) => instances.get(basename(name, '.log'))?.console.poll()),
    watchNames(containers.exitDirectory, log, (name) =>
      checkSafely(
        [...instances.values()].find(({ record }) => record?.containerId === name),
        log,
      ),
    ),
  ]
  return () => {
    for (const watcher of watchers) watcher?.close()
  }
}

function checkSafely(instance: ContainedInstance | undefined, log: Logger): void {
  instance
    ?.check()
    .catch((error: unknown) =>
      log.error({ err: error, podName: instance.podName }, 'failed to process the end of an instance; retrying'),
    )
}

async function takeOverRuns(
  records: RunRecords<RunRecord>,
  instanceOf: (podName: string) => ContainedInstance,
  log: Logger,
): Promise<void> {
  for (const record of records.all()) {
    const instance = instanceOf(record.podName)
    await instance
      .takeOver(record)
      .catch((error: unknown) =>
        log.error({ err: error, podName: record.podName }, 'failed to take over a run of an earlier platform process'),
      )
    // An older version did not record the directory, and the data directory may have been moved.
    if (instance.record && record.storedIn !== records.directory) records.save(record)
  }
}

/**
 * Removes containers that belong to no run. If a full disk prevented the record of a run until its platform ended, its
 * container is unknown to every later platform.
 * @returns a function that does so once; while it works, further calls do nothing
 */
function createContainerRemoval(
  containers: Containers,
  instances: ReadonlyMap<string, ContainedInstance>,
  log: Logger,
): () => Promise<void> {
  const logged = new Set<string>()
  let isRemoving = false

  async function removeUnknown(): Promise<void> {
    const ids = await containers.list()
    // Read afterwards: a run has its container's id before there is one.
    const known = new Set([...instances.values()].map(({ record }) => record?.containerId))
    for (const id of ids) {
      if (known.has(id)) continue
      await containers.remove(id).catch((error: unknown) => {
        if (!logged.has(id))
          log.error({ err: error, id }, 'failed to remove a container that belongs to no run; retrying')
        logged.add(id)
      })
    }
  }

  return async () => {
    if (isRemoving) return
    isRemoving = true
    await removeUnknown()
      .catch((error: unknown) => log.error({ err: error }, 'failed to list the containers; retrying'))
      .finally(() => (isRemoving = false))
  }
}

/** Calls back with the names of changed entries of a directory. Without inotify the timer polls instead. */
function watchNames(directory: string, log: Logger, onName: (name: string) => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, (_event, name) => {
      if (name !== null) onName(name)
    })
    watcher.on('error', (error) =>
      log.warn({ err: error }, 'cannot watch the output of instances; polling it once a second'),
    )
    return watcher
  } catch (error) {
    log.warn({ err: error }, 'cannot watch the output of instances; polling it once a second')
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
