import { AppError } from '../../errors'
import { archiveKind } from './archiveFormat'
import type { ArchiveLimits } from './archiveProcess'
import { isForOtherReader, limitsFor, splitError, type ExtractionLimits } from './extraction'
import { fileFailure } from '../fileFailure'
import { withParent, openRegularFile, type Jail, type OpenDirectory } from '../jail'
import type { JobControl } from '../transfers/jobs'
import { emptyBytesOf, HOLES_LIMIT, tooManyHolesMessage } from '../replicas/sparseFiles'
import type { Temporaries } from '../changes/temporaries'
import { unpackInProcess } from './unpackProcess'
import { unpackSevenZip } from './unpackSevenZip'
import { parsePath, parentAndName, printable, formatPath } from '../apiPath'
import { lstatOf } from '../directoryEntries'

/** Extracts archives into a new directory beside them, named after the archive. */
export interface Unpacker {
  /**
   * @returns the directory. Neither a failure nor a killed platform leaves anything behind.
   * @throws AppError NOT_FOUND, CONFLICT, UNSUPPORTED_MEDIA_TYPE, INVALID_INPUT, TOO_LARGE, DISK_FULL; the reason
   */
  unpack(path: string, control: JobControl): Promise<{ name: string; path: string }>
}

const ARCHIVE_NAME = /^(.+?)\.(zip|tar\.gz|tgz|tar|gz|7z|rar)$/is
/** Names that programs give the parts of an archive. Only the last part of a split zip is called `.zip`. */
const PART_NAME = /\.(?:[rz]\d\d|(?:zip|tar|gz|tgz|7z|rar)\.\d\d\d)$/i

/**
 * @param limitsOf extraction limits by size of the archive in bytes; overridden by tests.
 * @param processLimits limits of the child process; overridden by tests.
 */
export function createUnpacker(
  jail: Jail,
  temporaries: Temporaries,
  limitsOf: (archiveSize: number) => ExtractionLimits = limitsFor,
  processLimits?: ArchiveLimits,
): Unpacker {
  return {
    async unpack(path, control) {
      const segments = parsePath(path)
      const [parent, archiveName] = parentAndName(segments)
      const [, stem, extension] = ARCHIVE_NAME.exec(archiveName) ?? []
      if (PART_NAME.test(archiveName)) throw splitError()
      if (stem === undefined || extension === undefined || stem === '.' || stem === '..') {
        throw new AppError(
          'UNSUPPORTED_MEDIA_TYPE',
          `${printable(path)} is not an archive that can be extracted: .zip, .tar, .tar.gz, .tgz, .gz, .7z or .rar.`,
        )
      }
      return withParent(jail.openParent(segments), async (directory, name) => {
        const archive = await openRegularFile(directory, name)
        if (!archive)
          throw (await lstatOf(directory, name))
            ? new AppError('CONFLICT', `${printable(path)} is not a file.`)
            : new AppError('NOT_FOUND', `There is no ${printable(path)}.`)
        try {
          // Reading it would take days and hold a place of the queue; extracted, its holes would fill the disk.
          if (emptyBytesOf(archive.stats) > HOLES_LIMIT)
            throw new AppError(
              'TOO_LARGE',
              `The archive was not extracted: ${tooManyHolesMessage(name, archive.stats, 'cannot be extracted')}`,
            )
          control.progress({ total: archive.stats.size })
          const limits = limitsOf(archive.stats.size)
          const kind = await archiveKind(archive.handle, extension.toLowerCase())
          const bySevenZip = (to: OpenDirectory) =>
            unpackSevenZip(archive.handle, name, kind, to, limits, control, processLimits)
          const inProcess = (to: OpenDirectory) =>
            unpackInProcess(archive.handle, kind, stem, to, limits, control, processLimits)
          const extract = async (read: (to: OpenDirectory) => Promise<void>) => {
            const temporary = await temporaries.directory(directory)
            try {
              await read(temporary.directory)
              control.signal.throwIfAborted()
            } catch (error) {
              await temporary.discard()
              throw error
            }
            return temporary.placeUnderFreeName(stem)
          }
          const made = await extract(kind === '7z' || kind === 'rar' ? bySevenZip : inProcess).catch(
            (error: unknown) => {
              if (kind === 'zip' && isForOtherReader(error)) return extract(bySevenZip)
              throw error
            },
          )
          return { name: made, path: formatPath([...parent, made]) }
        } finally {
          await archive.handle.close()
        }
      }).catch((error: unknown) => {
        throw fileFailure(error, path)
      })
    },
  }
}
