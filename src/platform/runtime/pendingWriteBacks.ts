import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../errors'
import { dataDirectoryFailure } from '../share/fileFailure'
import { createSkippedEntries } from '../share/skippedEntries'
import type { WriteBack, WriteBackTask } from '../share/replicas/writeBack'
import { CANCELLED, NOT_ORDERLY, writtenBackExcept, writeBackFailed, writtenBack } from './keepMessages'
import { readJsonFiles, replaceJsonFile } from './jsonFiles'
import type { InstanceExit } from './runtime'

/** Initial delay before a failed write-back is retried, with exponential back-off. */
const RETRY_MS = 10_000
/** Operators wait for it after they have freed space or mounted the shared area again. */
const MAX_RETRY_MS = 60_000

interface PendingTask extends WriteBackTask {
  podName: string
}

interface Attempt {
  cancel: AbortController
  timer: NodeJS.Timeout | undefined
  /** Delay before the next retry, in milliseconds. */
  delay: number
  /** The last failure, as text for users. */
  problem: string | undefined
  /** Whether the files are written, and only the lines in the console are missing. */
  isWritten: boolean
}

/**
 * Write-backs of instances that run in copies (decisions §13, `keep`). Each is recorded before the start of its
 * instance and deleted after it is done. It therefore survives a restart of the platform and is not repeated.
 */
export interface PendingWriteBacks {
  /** Records a write-back before its instance starts. @throws AppError as `dataDirectoryFailure`, Node.js errors */
  add(podName: string, task: WriteBackTask): void
  has(podName: string): boolean
  podNames(): string[]
  /** The last failure of a write-back that is retried, as text for users. */
  problemOf(podName: string): string | undefined
  /** Handles the end of a run: writes back in the background after an orderly end, otherwise drops the write-back. */
  runEnded(podName: string, exit: Pick<InstanceExit, 'orderly'>): void
  /** Drops a write-back that is in progress or waits for a retry, with a line in the console. */
  cancel(podName: string): void
  /** Deletes the record of a write-back and aborts it. */
  delete(podName: string): void
  /** Aborts write-backs in progress; the next platform starts them again. */
  close(): void
}

/**
 * @param copiedAt when the copy of an instance was complete: see `WriteBackTask`
 * @param appendLine appends a line to an instance's console.
 * @param onDone called when an instance has no pending write-back any more.
 */
export function openPendingWriteBacks({
  dataDir,
  writeBack,
  copiedAt,
  appendLine,
  onDone,
}: {
  dataDir: string
  writeBack: WriteBack
  copiedAt: (podName: string) => Promise<number>
  appendLine: (podName: string, text: string) => Promise<void>
  onDone: () => void
}): PendingWriteBacks {
  const directory = join(dataDir, 'runtime', 'kept')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const fileOf = (podName: string) => join(directory, `${podName}.json`)
  const tasks = new Map(readJsonFiles<PendingTask>(directory).map((pending) => [pending.podName, pending]))
  const attempts = new Map<string, Attempt>()
  let isClosed = false

  function deleteTask(podName: string): void {
    clearTimeout(attempts.get(podName)?.timer)
    attempts.get(podName)?.cancel.abort()
    attempts.delete(podName)
    if (!tasks.delete(podName)) return
    rmSync(fileOf(podName), { force: true })
    onDone()
  }

  async function write(task: PendingTask, state: Attempt): Promise<void> {
    const { podName } = task
    const { signal } = state.cancel
    try {
      const skipped = createSkippedEntries()
      const files = await writeBack({ ...task, copiedAt: await copiedAt(podName) }, signal, skipped)
      if (signal.aborted) return
      state.isWritten = true
      const text = skipped.summary()
      if (text !== undefined) await appendLine(podName, writtenBackExcept(text))
      // The console line comes before `onDone`, which reports the end of the run.
      if (files > 0) await appendLine(podName, writtenBack(files))
      deleteTask(podName)
    } catch (error) {
      if (signal.aborted) return
      const problem = error instanceof AppError ? error.message : 'See the platform’s log for the reason.'
      const text = writeBackFailed(problem)
      if (text !== state.problem) void appendLine(podName, `[System] ${text}`)
      Object.assign(state, { problem: text, isWritten: false })
      state.timer = setTimeout(() => void write(task, state), state.delay)
      state.delay = Math.min(MAX_RETRY_MS, state.delay * 2)
    }
  }

  return {
    add(podName, task) {
      const pending = { podName, ...task }
      try {
        replaceJsonFile(fileOf(podName), pending)
      } catch (error) {
        throw dataDirectoryFailure(error) ?? error
      }
      tasks.set(podName, pending)
    },
    has: (podName) => tasks.has(podName),
    podNames: () => [...tasks.keys()],
    problemOf: (podName) => attempts.get(podName)?.problem,
    runEnded(podName, { orderly }) {
      const task = tasks.get(podName)
      if (!task || isClosed || attempts.has(podName)) return
      if (!orderly) {
        void appendLine(podName, NOT_ORDERLY)
        return deleteTask(podName)
      }
      const state: Attempt = {
        cancel: new AbortController(),
        timer: undefined,
        delay: RETRY_MS,
        problem: undefined,
        isWritten: false,
      }
      attempts.set(podName, state)
      void write(task, state)
    },
    cancel(podName) {
      if (attempts.get(podName)?.isWritten !== false) return
      void appendLine(podName, CANCELLED)
      deleteTask(podName)
    },
    delete: deleteTask,
    close() {
      isClosed = true
      for (const { cancel, timer } of attempts.values()) {
        clearTimeout(timer)
        cancel.abort()
      }
    },
  }
}
