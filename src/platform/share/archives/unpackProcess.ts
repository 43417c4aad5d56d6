import type { FileHandle } from 'node:fs/promises'
import type { ArchiveKind } from './archiveFormat'
import { runArchiveTask, type ArchiveLimits } from './archiveProcess'
import { AppError } from '../../errors'
import { damagedError, type ExtractionLimits } from './extraction'
import type { OpenDirectory } from '../jail'
import type { JobControl } from '../transfers/jobs'
import type { UnpackTask } from './unpackMain'

/** Limits of the child process: crafted headers can demand gigabytes, or never end. */
const LIMITS: ArchiveLimits = { memoryBytes: 512 * 2 ** 20, idleTimeoutMs: 60_000 }

/**
 * Extracts every format except `.7z` and `.rar` into an empty directory, in a child process with limits.
 * @param stem name of the single file in a `.gz`.
 * @param processLimits limits of the child process; overridden by tests.
 * @throws AppError INVALID_INPUT (damaged, encrypted, leads outside, timeout), TOO_LARGE; the signal's reason
 */
export async function unpackInProcess(
  archive: FileHandle,
  kind: ArchiveKind,
  stem: string,
  to: OpenDirectory,
  limits: ExtractionLimits,
  control: JobControl,
  processLimits = LIMITS,
): Promise<void> {
  const task: UnpackTask = { kind, stem, limits }
  const end = await runArchiveTask({
    program: 'share/archives/unpackMain',
    task,
    descriptors: [archive.fd, to.fd],
    name: stem,
    control,
    limits: processLimits,
  })
  if (typeof end === 'string') throw limitError(end, processLimits)
  if (end.code !== 0) throw failureOf(end.code, kind)
}

/** The error for a child process that failed. @param code null if it was killed from outside. @param kind of archive */
export function failureOf(code: number | null, kind: string): AppError {
  return code === null
    ? new AppError(
        'UNAVAILABLE',
        'The archive was not extracted: the process that unpacks it was killed. The machine may be short of memory.',
      )
    : damagedError(kind)
}

/** The error for a child process that exceeded a limit. */
export function limitError(end: 'memory' | 'timeout', { memoryBytes, idleTimeoutMs }: ArchiveLimits): AppError {
  return end === 'memory'
    ? new AppError(
        'TOO_LARGE',
        `The archive was not extracted: unpacking it takes more than ${memoryBytes / 2 ** 20} MiB of memory.`,
      )
    : new AppError(
        'INVALID_INPUT',
        `The archive was not extracted: unpacking it did not respond for ${idleTimeoutMs / 1000} seconds.`,
      )
}
