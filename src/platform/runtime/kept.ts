import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, errorCodeOf } from '../errors'
import { createLeftOut } from '../share/leftOut'
import type { WriteBack, WrittenBack } from '../share/writeBack'
import { readJsonFiles, replaceJsonFile } from './jsonFiles'
import type { InstanceExit } from './runtime'

/** Delay before a failed write-back is tried again; it doubles each time. In milliseconds. */
const RETRY_MS = 10_000
const LONGEST_RETRY_MS = 600_000

interface Pending extends WrittenBack {
  podName: string
}

interface Writing {
  cancel: AbortController
  timer: NodeJS.Timeout | undefined
  /** Until the next try. In milliseconds. */
  delay: number
  /** Why it did not work the last time. */
  problem: string | undefined
}

/**
 * What instances that run in copies are to write back to their deployment's directory after an orderly end (decisions §13, `keep`). It is
 * noted before the start and forgotten when it is done, so that it is done after a restart of the platform too, and not twice.
 */
export interface Kept {
  /** Notes, before the start of an instance, what is to be written back after its end. @throws AppError DISK_FULL, Node.js errors of the file system */
  note(podName: string, what: WrittenBack): void
  isPending(podName: string): boolean
  pending(): string[]
  /** Deals with the end of a run: writes back in the background, or forgets what a run that ended otherwise has left. */
  ended(podName: string, exit: Pick<InstanceExit, 'orderly'>): void
  /** Gives up what is being written back, or waits to be tried again, if anything does. */
  giveUp(podName: string): void
  /** Forgets what was noted. */
  forget(podName: string): void
  /** What is under way is aborted; the next platform begins it anew. */
  close(): void
}

/**
 * @param tell adds a line to an instance's console.
 * @param onDone is called when nothing of an instance is pending any more.
 */
export function openKept({
  dataDir,
  writeBack,
  tell,
  onDone,
}: {
  dataDir: string
  writeBack: WriteBack
  tell: (podName: string, text: string) => Promise<void>
  onDone: () => void
}): Kept {
  const directory = join(dataDir, 'runtime', 'kept')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const fileOf = (podName: string) => join(directory, `${podName}.json`)
  const all = new Map(readJsonFiles<Pending>(directory).map((pending) => [pending.podName, pending]))
  const writing = new Map<string, Writing>()
  let isClosed = false

  function forget(podName: string): void {
    clearTimeout(writing.get(podName)?.timer)
    writing.get(podName)?.cancel.abort()
    writing.delete(podName)
    if (!all.delete(podName)) return
    rmSync(fileOf(podName), { force: true })
    onDone()
  }

  async function write(what: Pending, state: Writing): Promise<void> {
    const { podName } = what
    const { signal } = state.cancel
    try {
      const leftOut = createLeftOut()
      const files = await writeBack(what, signal, leftOut)
      if (signal.aborted) return
      const text = leftOut.text()
      if (text !== undefined) await tell(podName, `[System] Not written back: ${text}`)
      // Before the end is told of.
      if (files > 0)
        await tell(
          podName,
          `[System] ${files === 1 ? 'A file' : `${files} files`} that "keep" names ${files === 1 ? 'was' : 'were'} written back.`,
        )
      forget(podName)
    } catch (error) {
      if (signal.aborted) return
      const problem = error instanceof AppError ? error.message : 'The log says why.'
      if (problem !== state.problem)
        void tell(
          podName,
          `[System] What "keep" names could not be written back. ${problem} It is tried again; Kill gives it up.`,
        )
      state.problem = problem
      state.timer = setTimeout(() => void write(what, state), state.delay)
      state.delay = Math.min(LONGEST_RETRY_MS, state.delay * 2)
    }
  }

  return {
    note(podName, what) {
      const pending = { podName, ...what }
      try {
        replaceJsonFile(fileOf(podName), pending)
      } catch (error) {
        if (!['ENOSPC', 'EDQUOT'].includes(errorCodeOf(error) ?? '')) throw error
        throw new AppError('DISK_FULL', 'The disk of the platform’s data directory is full.')
      }
      all.set(podName, pending)
    },
    isPending: (podName) => all.has(podName),
    pending: () => [...all.keys()],
    ended(podName, { orderly }) {
      const what = all.get(podName)
      if (!what || isClosed || writing.has(podName)) return
      if (!orderly) {
        void tell(podName, '[System] What "keep" names was not written back: it is after an orderly stop only.')
        return forget(podName)
      }
      const state: Writing = { cancel: new AbortController(), timer: undefined, delay: RETRY_MS, problem: undefined }
      writing.set(podName, state)
      void write(what, state)
    },
    giveUp(podName) {
      if (!writing.has(podName)) return
      void tell(podName, '[System] What "keep" names was not written back: it was given up.')
      forget(podName)
    },
    forget,
    close() {
      isClosed = true
      for (const { cancel, timer } of writing.values()) {
        clearTimeout(timer)
        cancel.abort()
      }
    },
  }
}
