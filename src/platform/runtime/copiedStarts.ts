import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { AppError } from '../errors'
import { dataDirectoryFailure } from '../share/fileFailure'
import type { Replicas } from '../share/replicas/replicas'
import { createSkippedEntries } from '../share/skippedEntries'
import { markCopy, timeOfCopyMarker } from './copyMarker'
import { isTemporaryCopyError } from './exitMessages'
import type { PendingWriteBacks } from './pendingWriteBacks'
import type { Driver, LocalSpec, RuntimeInstance } from './runtime'

export interface CopiedStartParts {
  driver: Driver
  replicas: Replicas
  writeBacks: PendingWriteBacks
  /** Whether `keep` can be written back. Without that, instances with `keep` do not start. */
  canWriteBack: boolean
  /** The path of an instance's copy. */
  copyOf: (podName: string) => string
  /** The path of the file that marks its copy: see copyMarker.ts. */
  markerOf: (podName: string) => string
  /** Appends a line to an instance's console. */
  appendLine: (podName: string, text: string) => Promise<void>
  /** Called when a start has succeeded, failed or was cancelled. */
  onDone: () => void
}

/** Starts of instances whose files are copied first. Until then they count as starting, but have no process yet. */
export interface CopiedStarts {
  has(podName: string): boolean
  instances(): RuntimeInstance[]
  /** Copies the files and starts the instance, unless it runs. @throws errors of the copy and of the driver */
  start(spec: LocalSpec): Promise<void>
  /** Ends a start, also one whose run the driver does not know yet. */
  cancel(podName: string, end: 'stop' | 'kill'): void
  cancelAll(): void
}

interface PendingStart {
  instance: RuntimeInstance
  controller: AbortController
  /** Requested during the start. */
  end?: 'stop' | 'kill'
}

export function createCopiedStarts({
  driver,
  replicas,
  writeBacks,
  canWriteBack,
  copyOf,
  markerOf,
  appendLine,
  onDone,
}: CopiedStartParts): CopiedStarts {
  const pending = new Map<string, PendingStart>()

  async function makeCopy(spec: LocalSpec, copy: string, signal: AbortSignal): Promise<void> {
    const { podName, directory, dataDirectory, keep } = spec
    const skipped = createSkippedEntries()
    // The instance may have changed files since, and given them their old times.
    const trustedUntil = await timeOfCopyMarker(markerOf(podName))
    await replicas.copyTo(directory, copy, { signal, skipped, trustedUntil })
    const text = skipped.summary()
    if (text !== undefined) await appendLine(podName, `[System] Not copied: ${text}`)
    if (keep && !canWriteBack) throw new Error('The runtime cannot write back files: it was opened without `writeBack`')
    // The driver marks it again when it has changed the owner of the files. If the platform ends before, the files of
    // `keep` are written back without a start, and must not count as changed.
    await markCopy(markerOf(podName))
    if (keep) writeBacks.add(podName, { copy: await realpath(copy), directory, dataDirectory, paths: keep })
  }

  async function copyAndStart(spec: LocalSpec, pendingStart: PendingStart): Promise<void> {
    const { controller } = pendingStart
    try {
      const directory = copyOf(spec.podName)
      const made = await makeCopy(spec, directory, controller.signal).then(
        async () => ({ directory: await realpath(directory) }),
        (error: unknown) => ({ error }),
      )
      if (controller.signal.aborted) return writeBacks.delete(spec.podName)
      if ('directory' in made) {
        // A request for this run, such as a restart, must not be taken for done when its copy is complete.
        const { runId } = pendingStart.instance
        await driver.ensure({ ...spec, ...made, runId, copy: false, copyMarker: markerOf(spec.podName) })
        // The driver may not have known the run when the request came.
        if (pendingStart.end !== undefined) await driver[pendingStart.end](spec.podName)
        return
      }
      const error = dataDirectoryFailure(made.error) ?? made.error
      await driver.startFailed(
        spec,
        `Could not be started: its files could not be copied${error instanceof AppError ? ` (${error.message})` : ''}.`,
        isTemporaryCopyError(error),
      )
      throw error
    } finally {
      pending.delete(spec.podName)
      onDone()
    }
  }

  return {
    has: (podName) => pending.has(podName),
    instances: () => [...pending.values()].map(({ instance }) => instance),
    async start(spec) {
      const pendingStart: PendingStart = { instance: startingInstance(spec), controller: new AbortController() }
      // Set it before the first await, so that a concurrent call finds it.
      pending.set(spec.podName, pendingStart)
      const isRunning = (await driver.list().catch(() => [])).some(
        ({ podName, state }) => podName === spec.podName && state !== 'EXITED',
      )
      if (isRunning) pending.delete(spec.podName)
      else await copyAndStart(spec, pendingStart)
    },
    cancel(podName, end) {
      const start = pending.get(podName)
      if (!start) return
      start.end = end
      start.controller.abort()
    },
    cancelAll() {
      for (const { controller } of pending.values()) controller.abort()
    },
  }
}

function startingInstance({ podName, port }: LocalSpec): RuntimeInstance {
  return {
    podName,
    runId: randomUUID(),
    state: 'STARTING',
    waitsFor: 'the copy of its files',
    ip: '127.0.0.1',
    port,
    startedAt: Date.now(),
    exit: undefined,
  }
}
