import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readdir, realpath, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, errorCodeOf } from '../errors'
import { createLeftOut } from '../share/leftOut'
import { removePath } from '../share/removal'
import type { Replicas } from '../share/replicas'
import type { WriteBack } from '../share/writeBack'
import { openKept } from './kept'
import type { InstanceSpec, Runtime, RuntimeInstance } from './runtime'

/** What runs instances of this machine in their directory as it is; `withCopies` adds the copies. */
export interface Driver extends Runtime {
  /** Notes that a start failed before there was anything to run. */
  startFailed(spec: InstanceSpec, failure: string): Promise<void>
}

/** An instance whose files are being copied: it is starting, and has no process yet. */
interface Preparation {
  instance: RuntimeInstance
  cancel: AbortController
}

export interface CopyParts {
  dataDir: string
  replicas: Replicas
  /** Without it an instance with `keep` is not started. */
  writeBack?: WriteBack
}

/**
 * Makes the copies of those instances whose specification asks for one, before the driver starts them, and writes back what is to be
 * kept of them after their end. Until that is done the instance is told as stopping, so that nobody starts or removes it.
 */
export function withCopies(driver: Driver, { dataDir, replicas, writeBack }: CopyParts): Runtime {
  const changes = new EventEmitter()
  const onChanged = () => changes.emit('changed')
  const preparations = new Map<string, Preparation>()
  const tell = (podName: string, text: string) => driver.note(podName, text).catch(() => undefined)
  const kept = openKept({ dataDir, writeBack: writeBack ?? (() => Promise.resolve(0)), tell, onDone: onChanged })
  const unwatch = driver.watch(() => {
    onChanged()
    void settleKept()
  })
  const directoryOfCopies = join(dataDir, 'instances')
  const copyOf = (podName: string) => join(directoryOfCopies, podName)
  const removed = openRemovedCopies(directoryOfCopies)

  /** Deals with what is pending of instances that have ended. */
  async function settleKept(): Promise<void> {
    if (kept.pending().length === 0) return
    const runs = await driver.list().catch(() => undefined)
    if (!runs) return
    for (const podName of kept.pending()) {
      if (preparations.has(podName)) continue
      const run = runs.find((known) => known.podName === podName)
      // One that this driver does not know ran under the other one, which was ended in order.
      if (!run) kept.ended(podName, { orderly: true })
      else if (run.exit) kept.ended(podName, run.exit)
    }
  }

  async function makeCopy(
    { podName, directory, keep }: InstanceSpec,
    copy: string,
    signal: AbortSignal,
  ): Promise<void> {
    const leftOut = createLeftOut()
    await replicas.copyTo(directory, copy, signal, leftOut)
    const text = leftOut.text()
    if (text !== undefined) await tell(podName, `[System] Not copied: ${text}`)
    if (keep && !writeBack) throw new Error('This runtime was opened without the means to write back')
    if (keep) kept.note(podName, { copy: await realpath(copy), directory, paths: keep })
  }

  async function prepareAndStart(spec: InstanceSpec, { cancel: { signal } }: Preparation): Promise<void> {
    try {
      const directory = copyOf(spec.podName)
      const failure = await makeCopy(spec, directory, signal).then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      if (signal.aborted) return kept.forget(spec.podName)
      if (!failure) return await driver.ensure({ ...spec, directory: await realpath(directory), copy: false })
      const { error } = failure
      await driver.startFailed(
        spec,
        `Could not be started: its files could not be copied${error instanceof AppError ? ` (${error.message})` : ''}.`,
      )
      throw error
    } finally {
      preparations.delete(spec.podName)
      onChanged()
      // Where it could not be started after all.
      void settleKept()
    }
  }

  void settleKept()
  const cancel = (podName: string) => preparations.get(podName)?.cancel.abort()

  return {
    ...driver,
    async ensure(spec) {
      if (!spec.copy) return driver.ensure(spec)
      // What is pending has to be written back first: the copy is made anew here.
      if (preparations.has(spec.podName) || kept.isPending(spec.podName)) return
      const instance: RuntimeInstance = {
        podName: spec.podName,
        runId: randomUUID(),
        state: 'STARTING',
        ip: '127.0.0.1',
        port: spec.port,
        startedAt: Date.now(),
        exit: undefined,
      }
      const preparation = { instance, cancel: new AbortController() }
      // Before the first wait: a second call must find it.
      preparations.set(spec.podName, preparation)
      const isRunning = (await driver.list().catch(() => [])).some(
        ({ podName, state }) => podName === spec.podName && state !== 'EXITED',
      )
      if (isRunning) preparations.delete(spec.podName)
      else await prepareAndStart(spec, preparation)
    },
    async stop(podName) {
      cancel(podName)
      await driver.stop(podName)
    },
    async kill(podName) {
      cancel(podName)
      kept.giveUp(podName)
      await driver.kill(podName)
    },
    async remove(podName) {
      if (preparations.has(podName)) return
      kept.forget(podName)
      await driver.remove(podName)
      await removed.add(copyOf(podName))
    },
    async list() {
      const started = await driver.list()
      const preparing = [...preparations.values()].map(({ instance }) => instance)
      const isKeeping = ({ state, podName }: RuntimeInstance) => state === 'EXITED' && kept.isPending(podName)
      const shown = started.map((run): RuntimeInstance =>
        isKeeping(run) ? { ...run, state: 'STOPPING', exit: undefined } : run,
      )
      return [...shown.filter(({ podName }) => !preparations.has(podName)), ...preparing]
    },
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    async close() {
      unwatch()
      kept.close()
      for (const { cancel: controller } of preparations.values()) controller.abort()
      await driver.close()
      await removed.close()
    },
  }
}

const REMOVED = '.removed-'

/**
 * Removes copies in the background, one after another: a million files take a minute, and who manages the instances does not wait for
 * that. What an earlier platform did not finish is removed as well.
 */
function openRemovedCopies(directory: string): { add(copy: string): Promise<void>; close(): Promise<void> } {
  const closing = new AbortController()
  // What is not removed is tried again by the next platform.
  const remove = (path: string) =>
    closing.signal.aborted ? undefined : removePath(path, closing.signal).catch(() => undefined)
  let removing = readdir(directory).then(
    async (names) => {
      for (const name of names) if (name.startsWith(REMOVED)) await remove(join(directory, name))
    },
    () => undefined,
  )
  return {
    /** @returns when the copy is out of the way. */
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
