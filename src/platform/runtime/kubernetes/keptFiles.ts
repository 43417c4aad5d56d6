import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { AppError } from '../../errors'
import { createSkippedEntries, type SkippedEntries } from '../../share/skippedEntries'
import { CANCELLED, NOT_ORDERLY, writtenBackExcept, writeBackFailed, writtenBack } from '../keepMessages'
import type { PodRuns } from './podRuns'
import type { Pods } from './pods'
import { exitOf } from './podInstance'
import { awaitsWriteBack, nameOf, runIdOf, runOptionsOf } from './podState'

const RETRY_MS = 10_000

/** The copies of instances with `keep`, in an internal directory of the shared area. */
export interface KeptCopies {
  /** Path of an instance's copy, in the shared area. */
  pathOf(podName: string): string
  /** Writes `keep` back to the deployment's directory. @returns the number of files. @throws as `WriteBack` */
  writeBack(
    podName: string,
    dataDirectory: string,
    paths: string[],
    skipped: SkippedEntries,
    signal: AbortSignal,
  ): Promise<number>
  /** Resolves when the copy is gone for a next start. Its files may be removed later. */
  remove(podName: string): Promise<void>
}

export interface KeptFiles {
  /**
   * Writes back the files of an ended run if it ended in order, and releases its Pod. Ends early, without a failure, if
   * the Pod is released meanwhile.
   * @returns milliseconds until the next attempt, if it failed
   */
  finish(pod: V1Pod): Promise<number | undefined>
  /** The last failure of a write-back that is retried, as text for users. @param runId the Pod's uid */
  problemOf(runId: string): string | undefined
  /** Releases the Pod of an ended run. A write-back in progress is aborted, on any replica; written files stay. */
  cancel(pod: V1Pod): Promise<void>
}

/**
 * Writes back the files of `keep`. A finalizer holds such a Pod until that is done, even if the Pod is deleted, so the
 * next manager repeats an interrupted write-back.
 */
export function createKeptFiles({
  runs,
  pods,
  copies,
  note,
  log,
}: {
  runs: PodRuns
  pods: Pods
  copies: KeptCopies
  note: (podName: string, text: string) => Promise<void>
  log: Pick<Logger, 'warn'>
}): KeptFiles {
  /** The last failure, which was written to the console, by run. */
  const problems = new Map<string, string>()
  /** Runs whose files are written back, and whose Pods are about to be released. */
  const written = new Set<string>()

  async function release(pod: V1Pod): Promise<void> {
    problems.delete(runIdOf(pod))
    runs.put(await pods.release(pod))
  }

  /** Whether the Pod is still held. Each replica sees when another one releases it. */
  function isHeld(pod: V1Pod): boolean {
    const present = runs.get(nameOf(pod))
    return present !== undefined && runIdOf(present) === runIdOf(pod) && awaitsWriteBack(present)
  }

  return {
    async finish(pod) {
      if (!isHeld(pod)) return undefined
      const podName = nameOf(pod)
      const { keep } = runOptionsOf(pod)
      if (!exitOf(pod, 0).orderly) await note(podName, NOT_ORDERLY)
      else if (keep) {
        const cancelling = new AbortController()
        const { signal } = cancelling
        const unwatch = runs.watch(() => isHeld(pod) || cancelling.abort())
        try {
          const skipped = createSkippedEntries()
          const files = await copies.writeBack(podName, keep.dataDirectory, keep.paths, skipped, signal)
          if (signal.aborted) return undefined
          written.add(runIdOf(pod))
          const left = skipped.summary()
          if (left !== undefined) await note(podName, writtenBackExcept(left))
          if (files > 0) await note(podName, writtenBack(files))
        } catch (error) {
          if (signal.aborted) return undefined
          log.warn({ err: error, podName }, 'failed to write the files of an instance back; retrying')
          written.delete(runIdOf(pod))
          const problem = error instanceof AppError ? error.message : 'See the platform’s log for the reason.'
          const text = writeBackFailed(problem)
          if (problems.get(runIdOf(pod)) !== text) await note(podName, `[System] ${text}`)
          problems.set(runIdOf(pod), text)
          return RETRY_MS
        } finally {
          unwatch()
        }
      }
      await release(pod).finally(() => written.delete(runIdOf(pod)))
      return undefined
    },
    problemOf: (runId) => problems.get(runId),
    async cancel(pod) {
      if (written.has(runIdOf(pod))) return
      // First: a write-back in progress ends with it.
      await release(pod)
      await note(nameOf(pod), CANCELLED)
    },
  }
}
