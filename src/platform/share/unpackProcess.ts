import type { FileHandle } from 'node:fs/promises'
import { runArchiveWork, type ArchiveLimits } from './archiveProcess'
import { AppError } from '../errors'
import { damaged, type ExtractionLimits } from './extraction'
import type { HeldDirectory } from './jail'
import type { JobControl } from './jobs'
import type { UnpackTask } from './unpackMain'

/** What reading an archive may take: headers can be made to want gigabytes, or to be read without end. */
const LIMITS: ArchiveLimits = { memory: 512 * 2 ** 20, silence: 60_000 }

/**
 * Extracts a `.zip`, `.tar`, `.tar.gz`, `.tgz` or `.gz` into an empty directory, in a process of its own with limits on memory, size and entries.
 * @param stem what the one file of a `.gz` is called.
 * @param own limits of the process, for tests.
 * @throws AppError INVALID_INPUT (damaged, encrypted, a name that leads out, no response), TOO_LARGE; errors of the file system; the signal's reason
 */
export async function unpackInProcess(
  archive: FileHandle,
  kind: string,
  stem: string,
  to: HeldDirectory,
  limits: ExtractionLimits,
  control: JobControl,
  own = LIMITS,
): Promise<void> {
  const task: UnpackTask = { kind, stem, limits }
  const end = await runArchiveWork({
    program: 'share/unpackMain',
    task,
    descriptors: [archive.fd, to.fd],
    name: stem,
    control,
    limits: own,
  })
  if (typeof end === 'string') throw notExtracted(end, own)
  if (end.code !== 0) throw damaged(kind)
}

/** Why an archive was not extracted whose process was ended. */
export function notExtracted(end: 'memory' | 'silence', { memory, silence }: ArchiveLimits): AppError {
  return end === 'memory'
    ? new AppError(
        'TOO_LARGE',
        `The archive was not extracted: unpacking it takes more than ${memory / 2 ** 20} MiB of memory.`,
      )
    : new AppError(
        'INVALID_INPUT',
        `The archive was not extracted: unpacking it did not respond for ${silence / 1000} seconds.`,
      )
}
