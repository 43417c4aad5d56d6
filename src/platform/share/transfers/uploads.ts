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
   * Places the received files in a directory. A replaced file passes on its owner and mode.
   * @returns the names and paths of the stored files, in order
   * @param currentJail restricts the target to what the user may use now; the rights may have changed since `receive`
   * @throws AppError NAME_TAKEN (`refuse`), CONFLICT (a directory); it names the files that were stored before
   */
  store(
    path: string,
    onConflict: OnConflict,
    currentJail?: Pick<Jail, 'openDirectory'>,
  ): Promise<{ name: string; path: string }[]>
  discard(): Promise<void>
}

/** How many stored files a failure names. */
const SHOWN_NAMES = 10

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

        async store(path, onConflict, currentJail = jail) {
          const stored: { name: string; path: string }[] = []
          let target: OpenDirectory | undefined
          try {
            const segments = parsePath(path)
            target = await currentJail.openDirectory(segments)
            while (true) {
              // A temporary that is no longer among the received removes itself on failure.
              const next = received.shift()
              if (!next) break
              const name = await place(next, target, onConflict).catch((error: unknown) => {
                throw afterStored(fileFailure(error, formatPath([...segments, next.name])), stored)
              })
              stored.push({ name, path: formatPath([...segments, name]) })
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

/** Gives a received file its name. @returns the name, which differs from the sent one for `keepBoth` */
async function place(
  { name, directory, temporary }: Received,
  target: OpenDirectory,
  onConflict: OnConflict,
): Promise<string> {
  if (onConflict === 'keepBoth') return temporary.placeUnderFreeName(name, target)
  if (onConflict === 'refuse') await temporary.placeNew(name, target)
  else await temporary.replace(name, target, () => copyOwnerAndModeByName([target, name], [directory, temporary.name]))
  return name
}

/** Adds to the reason of a failed file which files stay stored: those before it in the form. */
function afterStored(error: unknown, stored: { name: string }[]): unknown {
  if (!(error instanceof AppError) || stored.length === 0) return error
  const reason = error.message.replace(' Nothing was changed.', '')
  const names = stored.slice(0, SHOWN_NAMES).map(({ name }) => printable(`"${name}"`))
  const more = stored.length > SHOWN_NAMES ? ` and ${stored.length - SHOWN_NAMES} more` : ''
  return new AppError(
    error.code,
    `${reason} The files before it in the form are stored: ${names.join(', ')}${more}.`,
    error.details,
  )
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
