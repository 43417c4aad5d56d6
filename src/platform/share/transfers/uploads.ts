import type { Readable } from 'node:stream'
import type { OnConflict } from '../../../contract/file'
import { AppError } from '../../errors'
import { fileFailure } from '../fileFailure'
import type { OpenDirectory, Jail } from '../jail'
import { copyOwnerAndModeByName } from '../permissions'
import { writeStream } from '../streams'
import type { Temporaries, TemporaryFile } from '../changes/temporaries'
import { parsePath, printable, formatPath } from '../apiPath'

/** The files of one request: all are received before the first is placed. End it with `store` or `discard`. */
export interface Upload {
  /**
   * Streams a file to disk beside its destination.
   * @param path the target directory, if it is known already; otherwise `store` moves the file there.
   * @throws AppError INVALID_INPUT (name), NOT_FOUND, DISK_FULL
   */
  receive(name: string, content: Readable, path: string | undefined): Promise<void>
  /**
   * A replaced file passes on its owner and mode.
   * @param present opens the directory, with rights that the user still has
   * @throws AppError NAME_TAKEN (`refuse`), CONFLICT (a directory)
   */
  store(
    path: string,
    onConflict: OnConflict,
    present?: Pick<Jail, 'openDirectory'>,
  ): Promise<{ name: string; path: string }[]>
  discard(): Promise<void>
}

interface Received {
  name: string
  /** Holds the file until it is stored. */
  directory: OpenDirectory
  temporary: TemporaryFile
}

export function createUploads(jail: Jail, temporaries: Temporaries): { begin(): Upload } {
  return {
    begin() {
      let received: Received[] = []
      /** Each directory is opened once and stays open until the upload ends. */
      const directories = new Map<string, OpenDirectory>()

      async function directoryOf(path: string | undefined): Promise<OpenDirectory> {
        const segments = path === undefined ? [] : parsePath(path)
        const key = formatPath(segments)
        const directory = directories.get(key) ?? (await jail.openDirectory(segments))
        directories.set(key, directory)
        return directory
      }

      async function discard(): Promise<void> {
        const rest = received
        received = []
        // Discard all, even if one fails.
        const ended = await Promise.allSettled(rest.map(({ temporary }) => temporary.discard()))
        for (const directory of directories.values()) await directory.close()
        directories.clear()
        for (const result of ended) if (result.status === 'rejected') throw result.reason
      }

      return {
        async receive(name, content, path) {
          checkUploadName(name)
          const directory = await directoryOf(path)
          let temporary: TemporaryFile | undefined
          try {
            temporary = await temporaries.file(directory)
            await writeStream(content, temporary.handle)
            // A form may contain many files: keep none open.
            await temporary.seal()
            received.push({ name, directory, temporary })
          } catch (error) {
            await temporary?.discard()
            throw fileFailure(error, path === undefined ? name : `${path}/${name}`)
          }
        },

        async store(path, onConflict, present = jail) {
          const stored: { name: string; path: string }[] = []
          let target: OpenDirectory | undefined
          try {
            const segments = parsePath(path)
            target = await present.openDirectory(segments)
            for (let next; (next = received[0]);) {
              const { name, directory, temporary } = next
              let newName = name
              // From here on, the temporary removes itself on failure.
              received.shift()
              try {
                const into = target
                if (onConflict === 'replace')
                  await temporary.replace(name, into, () =>
                    copyOwnerAndModeByName([into, name], [directory, temporary.name]),
                  )
                else if (onConflict === 'refuse') await temporary.placeNew(name, target)
                else newName = await temporary.placeUnderFreeName(name, target)
              } catch (error) {
                throw fileFailure(error, formatPath([...segments, name]))
              }
              stored.push({ name: newName, path: formatPath([...segments, newName]) })
            }
          } finally {
            await target?.close()
            await discard()
          }
          return stored
        },

        discard,
      }
    },
  }
}

/** Allows more characters than names created here, but no separators and no control characters. */
function checkUploadName(name: string): void {
  const invalid = (reason: string) =>
    new AppError('INVALID_INPUT', `files: "${printable(name)}" ${reason}`, { field: 'files' })
  // eslint-disable-next-line no-control-regex -- matches control characters
  if (name === '' || name === '.' || name === '..' || /[/\\\u0000-\u001f\u007f]/.test(name))
    throw invalid('is not a valid file name')
  parsePath(formatPath([name]), 'files')
}
