import { AppError } from '../errors'
import type { ArchiveLimits } from './archiveProcess'
import { limitsFor, type ExtractionLimits } from './extraction'
import { fileFailure } from './fileFailure'
import { holdingParent, openRegularFile, type Jail } from './jail'
import type { JobControl } from './jobs'
import { lstatOf } from './placing'
import type { Temporaries } from './temporaries'
import { unpackInProcess } from './unpackProcess'
import { unpackSevenZip } from './unpackSevenZip'
import { namesOf, parentAndName, printable, wirePathOf } from './wirePath'

/** Extracts archives into a new directory beside them, named after them. */
export interface Unpacker {
  /**
   * @returns the directory. A failure leaves nothing, neither does a platform that is killed meanwhile.
   * @throws AppError NOT_FOUND, UNSUPPORTED_MEDIA_TYPE, INVALID_INPUT (damaged, encrypted, leads out), TOO_LARGE, DISK_FULL; the signal's reason
   */
  unpack(path: string, control: JobControl): Promise<{ name: string; path: string }>
}

const KINDS = /^(.+?)\.(zip|tar\.gz|tgz|tar|gz|7z|rar)$/i

/**
 * @param limitsOf what an archive of so many bytes may become, for tests.
 * @param own limits of the process that unpacks, for tests.
 */
export function createUnpacker(
  jail: Jail,
  temporaries: Temporaries,
  limitsOf: (archiveSize: number) => ExtractionLimits = limitsFor,
  own?: ArchiveLimits,
): Unpacker {
  return {
    async unpack(path, control) {
      const names = namesOf(path)
      const [above, ownName] = parentAndName(names)
      const [, stem, kind] = KINDS.exec(ownName) ?? []
      if (stem === undefined || kind === undefined || stem === '.' || stem === '..') {
        throw new AppError(
          'UNSUPPORTED_MEDIA_TYPE',
          `${printable(path)} is not an archive that can be extracted: .zip, .tar, .tar.gz, .tgz, .gz, .7z or .rar.`,
        )
      }
      return holdingParent(jail.parent(names), async (directory, name) => {
        const archive = await openRegularFile(directory, name)
        if (!archive)
          throw (await lstatOf(directory, name))
            ? new AppError('CONFLICT', `${printable(path)} is not a file.`)
            : new AppError('NOT_FOUND', `There is no ${printable(path)}.`)
        try {
          control.progress({ total: archive.stats.size })
          const limits = limitsOf(archive.stats.size)
          const temporary = await temporaries.directory(directory)
          try {
            if (/^(?:7z|rar)$/i.test(kind))
              await unpackSevenZip(archive.handle, name, temporary.directory, limits, control, own)
            else
              await unpackInProcess(archive.handle, kind.toLowerCase(), stem, temporary.directory, limits, control, own)
            control.signal.throwIfAborted()
          } catch (error) {
            await temporary.discard()
            throw error
          }
          const made = await temporary.placeUnderFreeName(stem)
          return { name: made, path: wirePathOf([...above, made]) }
        } finally {
          await archive.handle.close()
        }
      }).catch((error: unknown) => {
        throw fileFailure(error, path)
      })
    },
  }
}
