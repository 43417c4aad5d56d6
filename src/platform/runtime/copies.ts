import { EventEmitter } from 'node:events'
import { realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Replicas } from '../share/replicas/replicas'
import { openRealDirectory } from '../share/jail'
import type { WriteBack } from '../share/replicas/writeBack'
import { createCopiedStarts } from './copiedStarts'
import { timeOfCopyMarker } from './copyMarker'
import { openPendingWriteBacks } from './pendingWriteBacks'
import { openRemovedCopies } from './removedCopies'
import type { Driver, LocalSpec, Runtime, RuntimeInstance } from './runtime'

export interface CopyParts {
  dataDir: string
  replicas: Replicas
  /** Required for instances with `keep`; without it they do not start. */
  writeBack?: WriteBack
}

/** The directory of the copies, within the data directory. */
export const copiesIn = (dataDir: string): string => join(dataDir, 'instances')

/**
 * Decorates a driver: copies the files of instances with `copy` before their start, and writes `keep` back after their
 * end. Until then, the instance is reported as STOPPING, so that the manager neither starts nor removes it.
 */
export function withCopies(driver: Driver, { dataDir, replicas, writeBack }: CopyParts): Runtime<LocalSpec> {
  const changes = new EventEmitter()
  const emitChange = () => changes.emit('changed')
  const appendLine = (podName: string, text: string) => driver.note(podName, text).catch(() => undefined)
  const directoryOfCopies = copiesIn(dataDir)
  const copyOf = (podName: string) => join(directoryOfCopies, podName)
  const markerOf = (podName: string) => join(directoryOfCopies, `.copied-${podName}`)
  const writeBacks = openPendingWriteBacks({
    dataDir,
    writeBack: writeBack ?? (() => Promise.resolve(0)),
    copiedAt: (podName) => timeOfCopyMarker(markerOf(podName)),
    appendLine,
    onDone: emitChange,
  })
  const removed = openRemovedCopies(async () => openRealDirectory(await realpath(directoryOfCopies)))
  const onChange = () => {
    emitChange()
    void settleWriteBacks()
  }
  const starts = createCopiedStarts({
    driver,
    replicas,
    writeBacks,
    canWriteBack: writeBack !== undefined,
    copyOf,
    markerOf,
    appendLine,
    // The start may have failed: then its pending write-back is dropped.
    onDone: onChange,
  })
  const unwatch = driver.watch(onChange)

  /** Completes or drops pending write-backs of instances that have ended. */
  async function settleWriteBacks(): Promise<void> {
    if (writeBacks.podNames().length === 0) return
    const runs = await driver.list().catch(() => undefined)
    if (!runs) return
    for (const podName of writeBacks.podNames()) {
      if (starts.has(podName)) continue
      const run = runs.find((known) => known.podName === podName)
      // An instance that this driver does not know ran under the other driver, which stopped it in order.
      if (!run) writeBacks.runEnded(podName, { orderly: true })
      else if (run.exit) writeBacks.runEnded(podName, run.exit)
    }
  }

  void settleWriteBacks()

  return {
    ...driver,
    async ensure(spec) {
      if (!spec.copy) return driver.ensure(spec)
      // A pending write-back must finish first, because the start replaces the copy.
      if (!starts.has(spec.podName) && !writeBacks.has(spec.podName)) await starts.start(spec)
    },
    async stop(podName) {
      starts.cancel(podName, 'stop')
      await driver.stop(podName)
    },
    async kill(podName) {
      starts.cancel(podName, 'kill')
      writeBacks.cancel(podName)
      await driver.kill(podName)
    },
    async remove(podName) {
      if (starts.has(podName)) return
      writeBacks.delete(podName)
      await driver.remove(podName)
      await removed.add(podName)
      await rm(markerOf(podName), { force: true })
    },
    async list() {
      const runs = await driver.list()
      // The driver may have lost the message of a change, for example when its host was killed.
      for (const { podName, exit } of runs) if (exit && !starts.has(podName)) writeBacks.runEnded(podName, exit)
      const started = runs.filter(({ podName }) => !starts.has(podName))
      const isWritingBack = ({ state, podName }: RuntimeInstance) => state === 'EXITED' && writeBacks.has(podName)
      const shown = started.map((run): RuntimeInstance =>
        isWritingBack(run)
          ? { ...run, state: 'STOPPING', exit: undefined, problem: writeBacks.problemOf(run.podName) }
          : run,
      )
      return [...shown, ...starts.instances()]
    },
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    async close() {
      unwatch()
      writeBacks.close()
      starts.cancelAll()
      await driver.close()
      await removed.close()
    },
  }
}
