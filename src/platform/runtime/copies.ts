import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readdir, realpath, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, errorCodeOf } from '../errors'
import { dataDiskFull } from '../share/fileFailure'
import { createSkippedEntries } from '../share/skippedEntries'
import { removePath } from '../share/changes/removal'
import type { Replicas } from '../share/replicas/replicas'
import type { WriteBack } from '../share/replicas/writeBack'
import { openPendingWriteBacks } from './pendingWriteBacks'
import type { InstanceSpec, Runtime, RuntimeInstance } from './runtime'

/** Runs instances in their directory without copying it; `withCopies` adds the copies. */
export interface Driver extends Runtime {
  /** Records a start that failed before there was a process. */
  startFailed(spec: InstanceSpec, failure: string): Promise<void>
}

/** An instance whose files are being copied. It counts as starting, but has no process yet. */
interface PendingStart {
  instance: RuntimeInstance
  cancel: AbortController
}

export interface CopyParts {
  dataDir: string
  replicas: Replicas
  /** Required for instances with `keep`; without it they do not start. */
  writeBack?: WriteBack
}

/**
 * Decorates a driver: copies the files of instances that ask for it before their start, and writes `keep` back after
 * their end. Until then, the instance is reported as STOPPING, so that the manager neither starts nor removes it.
 */
export function withCopies(driver: Driver, { dataDir, replicas, writeBack }: CopyParts): Runtime {
  const changes = new EventEmitter()
  const emitChange = () => changes.emit('changed')
  const pendingStarts = new Map<string, PendingStart>()
  const appendLine = (podName: string, text: string) => driver.note(podName, text).catch(() => undefined)
  const writeBacks = openPendingWriteBacks({
    dataDir,
    writeBack: writeBack ?? (() => Promise.resolve(0)),
    appendLine,
    onDone: emitChange,
  })
  const unwatch = driver.watch(() => {
    emitChange()
    void settleWriteBacks()
  })
  const directoryOfCopies = join(dataDir, 'instances')
  const copyOf = (podName: string) => join(directoryOfCopies, podName)
  const removed = openRemovedCopies(directoryOfCopies)

  /** Completes or drops pending write-backs of instances that have ended. */
  async function settleWriteBacks(): Promise<void> {
    if (writeBacks.podNames().length === 0) return
    const runs = await driver.list().catch(() => undefined)
    if (!runs) return
    for (const podName of writeBacks.podNames()) {
      if (pendingStarts.has(podName)) continue
      const run = runs.find((known) => known.podName === podName)
      // An instance that this driver does not know ran under the other driver, which stopped it in order.
      if (!run) writeBacks.runEnded(podName, { orderly: true })
      else if (run.exit) writeBacks.runEnded(podName, run.exit)
    }
  }

  async function makeCopy(
    { podName, directory, keep }: InstanceSpec,
    copy: string,
    signal: AbortSignal,
  ): Promise<void> {
    const skipped = createSkippedEntries()
    await replicas.copyTo(directory, copy, signal, skipped)
    const text = skipped.summary()
    if (text !== undefined) await appendLine(podName, `[System] Not copied: ${text}`)
    if (keep && !writeBack) throw new Error('This runtime was opened without the means to write back')
    if (keep) writeBacks.add(podName, { copy: await realpath(copy), directory, paths: keep })
  }

  async function copyAndStart(spec: InstanceSpec, { cancel: { signal } }: PendingStart): Promise<void> {
    try {
      const directory = copyOf(spec.podName)
      const failure = await makeCopy(spec, directory, signal).then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      if (signal.aborted) return writeBacks.delete(spec.podName)
      if (!failure) return await driver.ensure({ ...spec, directory: await realpath(directory), copy: false })
      const error = dataDiskFull(failure.error) ?? failure.error
      await driver.startFailed(
        spec,
        `Could not be started: its files could not be copied${error instanceof AppError ? ` (${error.message})` : ''}.`,
      )
      throw error
    } finally {
      pendingStarts.delete(spec.podName)
      emitChange()
      // The start may have failed: then drop the pending write-back.
      void settleWriteBacks()
    }
  }

  void settleWriteBacks()
  const cancel = (podName: string) => pendingStarts.get(podName)?.cancel.abort()

  return {
    ...driver,
    async ensure(spec) {
      if (!spec.copy) return driver.ensure(spec)
      // A pending write-back must finish first, because the start replaces the copy.
      if (pendingStarts.has(spec.podName) || writeBacks.has(spec.podName)) return
      const instance: RuntimeInstance = {
        podName: spec.podName,
        runId: randomUUID(),
        state: 'STARTING',
        ip: '127.0.0.1',
        port: spec.port,
        startedAt: Date.now(),
        exit: undefined,
      }
      const pendingStart = { instance, cancel: new AbortController() }
      // Set it before the first await, so that a concurrent call finds it.
      pendingStarts.set(spec.podName, pendingStart)
      const isRunning = (await driver.list().catch(() => [])).some(
        ({ podName, state }) => podName === spec.podName && state !== 'EXITED',
      )
      if (isRunning) pendingStarts.delete(spec.podName)
      else await copyAndStart(spec, pendingStart)
    },
    async stop(podName) {
      cancel(podName)
      await driver.stop(podName)
    },
    async kill(podName) {
      cancel(podName)
      writeBacks.cancel(podName)
      await driver.kill(podName)
    },
    async remove(podName) {
      if (pendingStarts.has(podName)) return
      writeBacks.delete(podName)
      await driver.remove(podName)
      await removed.add(copyOf(podName))
    },
    async list() {
      const started = await driver.list()
      const preparing = [...pendingStarts.values()].map(({ instance }) => instance)
      const isWritingBack = ({ state, podName }: RuntimeInstance) => state === 'EXITED' && writeBacks.has(podName)
      const shown = started.map((run): RuntimeInstance =>
        isWritingBack(run) ? { ...run, state: 'STOPPING', exit: undefined } : run,
      )
      return [...shown.filter(({ podName }) => !pendingStarts.has(podName)), ...preparing]
    },
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    async close() {
      unwatch()
      writeBacks.close()
      for (const { cancel: controller } of pendingStarts.values()) controller.abort()
      await driver.close()
      await removed.close()
    },
  }
}

const REMOVED = '.removed-'

/**
 * Removes copies in the background, one after another: a million files take a minute, and the manager must not wait for
 * that. Continues removals that an earlier platform did not finish.
 */
function openRemovedCopies(directory: string): { add(copy: string): Promise<void>; close(): Promise<void> } {
  const closing = new AbortController()
  // The next platform retries a removal that fails.
  const remove = (path: string) =>
    closing.signal.aborted ? undefined : removePath(path, closing.signal).catch(() => undefined)
  let removing = readdir(directory).then(
    async (names) => {
      for (const name of names) if (name.startsWith(REMOVED)) await remove(join(directory, name))
    },
    () => undefined,
  )
  return {
    /** Resolves when the copy is renamed, so that its path is free. Its removal continues. */
    async add(copy) {
      const path = join(directory, `${REMOVED}${randomUUID()}`)
      try {
        await rename(copy, path)
      } catch (error) {
        if (errorCodeOf(error) === 'ENOENT') return
        throw error
      }
      removing = removing.then(() => remove(path))
    },
    async close() {
      closing.abort()
      await removing
    },
  }
}
