import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../errors'
import { runArchiveWork, type ArchiveLimits } from './archiveProcess'
import { fileFailure } from './fileFailure'
import { holding, type HeldDirectory, type Jail } from './jail'
import type { JobControl } from './jobs'
import type { PackTask } from './packMain'
import { lstatOf } from './placing'
import type { Temporaries } from './temporaries'
import { namesOf, parentAndName, printable, wirePathOf } from './wirePath'

/** What packing may take: a directory of millions of names is read as a whole. */
const LIMITS: ArchiveLimits = { memory: 512 * 2 ** 20, silence: 60_000 }

/** Makes `.tar.gz` archives of entries of one directory, beside them. */
export interface Packer {
  /**
   * @param wantedName of the archive; where it is taken, the next free one is used.
   * @returns the archive. Nothing is left behind by a failure.
   * @throws AppError NOT_FOUND, INVALID_INPUT (not all in one directory), CONFLICT (nothing of it can be packed, or it holds directories too deep), TOO_LARGE, DISK_FULL; the signal's reason
   */
  pack(paths: string[], wantedName: string, control: JobControl): Promise<{ name: string; path: string }>
}

/** @param limits of the process, for tests. */
export function createPacker(jail: Jail, temporaries: Temporaries, limits = LIMITS): Packer {
  return {
    async pack(paths, wantedName, control) {
      const entries = paths.map((path) => parentAndName(namesOf(path, 'files'), 'files'))
      const above = entries[0]?.[0] ?? []
      if (entries.some(([other]) => wirePathOf(other) !== wirePathOf(above)))
        throw new AppError('INVALID_INPUT', 'files: must all be in one directory', { field: 'files' })
      const name = await holding(jail.directory(above), async (directory) => {
        const tops = [...new Set(entries.map(([, top]) => top))]
        for (const top of tops) {
          if (!(await lstatOf(directory, top)))
            throw new AppError('NOT_FOUND', `There is no ${printable(wirePathOf([...above, top]))}.`)
        }
        const what =
          tops.length === 1
            ? `${printable(paths[0] ?? '')} is neither a file nor a directory`
            : `none of these ${tops.length} is a file or a directory`
        const nothing = `There is nothing to pack: ${what}. Links are packed only with the directory that they are in.`
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
      return { name, path: wirePathOf([...above, name]) }
    },
  }
}

/** Fills an empty file with the archive, in a process of its own: compressing and reading large trees must not hold up the platform. */
async function packInProcess(
  task: PackTask,
  directory: HeldDirectory,
  file: FileHandle,
  name: string,
  control: JobControl,
  limits: ArchiveLimits,
): Promise<void> {
  const end = await runArchiveWork({
    program: 'share/packMain',
    task,
    descriptors: [directory.fd, file.fd],
    name,
    control,
    limits,
  })
  if (end === 'memory')
    throw new AppError(
      'TOO_LARGE',
      `The archive was not made: packing takes more than ${limits.memory / 2 ** 20} MiB of memory.`,
    )
  if (end === 'silence')
    throw new AppError(
      'UNAVAILABLE',
      `The archive was not made: packing did not respond for ${limits.silence / 1000} seconds.`,
    )
  if (end.code === null)
    throw new AppError(
      'UNAVAILABLE',
      'The archive was not made: the process that packs it was killed. The machine may be short of memory.',
    )
  if (end.code !== 0) throw new Error(`The process that packs ended with code ${end.code}`)
}
