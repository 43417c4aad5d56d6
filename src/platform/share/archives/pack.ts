import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../../errors'
import { runArchiveTask, type ArchiveLimits } from './archiveProcess'
import { fileFailure } from '../fileFailure'
import { withDirectory, type OpenDirectory, type Jail } from '../jail'
import type { JobControl } from '../transfers/jobs'
import type { PackTask } from './packMain'
import type { Temporaries } from '../changes/temporaries'
import { parsePath, parentAndName, printable, formatPath } from '../apiPath'
import { lstatOf } from '../directoryEntries'

/** Limits of the packing process: it reads the names of a directory, maybe millions, at once. */
const LIMITS: ArchiveLimits = { memoryBytes: 512 * 2 ** 20, idleTimeoutMs: 60_000 }

/** Packs entries of one directory into a `.tar.gz` beside them. */
export interface Packer {
  /**
   * @param wantedName the wanted name of the archive; if it is taken, the next free name is used.
   * @returns the archive. A failure leaves nothing behind.
   * @throws AppError NOT_FOUND, INVALID_INPUT (several directories), CONFLICT (nothing to pack, or too deep),
   * TOO_LARGE, DISK_FULL; the signal's reason
   */
  pack(paths: string[], wantedName: string, control: JobControl): Promise<{ name: string; path: string }>
}

/** @param limits of the process; overridden by tests. */
export function createPacker(jail: Jail, temporaries: Temporaries, limits = LIMITS): Packer {
  return {
    async pack(paths, wantedName, control) {
      const entries = paths.map((path) => parentAndName(parsePath(path, 'files'), 'files'))
      const parent = entries[0]?.[0] ?? []
      if (entries.some(([other]) => formatPath(other) !== formatPath(parent)))
        throw new AppError('INVALID_INPUT', 'files: must all be in one directory', { field: 'files' })
      const name = await withDirectory(jail.openDirectory(parent), async (directory) => {
        const tops = [...new Set(entries.map(([, top]) => top))]
        for (const top of tops) {
          if (!(await lstatOf(directory, top)))
            throw new AppError('NOT_FOUND', `There is no ${printable(formatPath([...parent, top]))}.`)
        }
        const subject =
          tops.length === 1
            ? `${printable(paths[0] ?? '')} is neither a file nor a directory`
            : `none of these ${tops.length} is a file or a directory`
        const nothing = `There is nothing to pack: ${subject}. Links are packed only with the directory that they are in.`
        const temporary = await temporaries.file(directory)
        try {
          await packInProcess({ tops, nothing }, directory, temporary.handle, wantedName, control, limits)
          control.signal.throwIfAborted()
        } catch (error) {
          await temporary.discard()
          throw error
        }
        return temporary.placeUnderFreeName(wantedName)
      }).catch((error: unknown) => {
        throw fileFailure(error, paths[0] ?? '')
      })
      return { name, path: formatPath([...parent, name]) }
    },
  }
}

/** Writes the archive in a child process: compressing and reading large trees would block the event loop. */
async function packInProcess(
  task: PackTask,
  directory: OpenDirectory,
  file: FileHandle,
  name: string,
  control: JobControl,
  limits: ArchiveLimits,
): Promise<void> {
  const end = await runArchiveTask({
    program: 'share/archives/packMain',
    task,
    descriptors: [directory.fd, file.fd],
    name,
    control,
    limits,
  })
  if (end === 'memory')
    throw new AppError(
      'TOO_LARGE',
      `The archive was not created: packing takes more than ${limits.memoryBytes / 2 ** 20} MiB of memory.`,
    )
  if (end === 'timeout')
    throw new AppError(
      'UNAVAILABLE',
      `The archive was not created: packing did not respond for ${limits.idleTimeoutMs / 1000} seconds.`,
    )
  if (end.code === null)
    throw new AppError(
      'UNAVAILABLE',
      'The archive was not created: the process that packs it was killed. The machine may be short of memory.',
    )
  if (end.code !== 0) throw new Error(`The process that packs ended with code ${end.code}`)
}
