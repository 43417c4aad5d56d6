import type { Readable } from 'node:stream'
import type { OnConflict } from '../../contract/file'
import { AppError } from '../errors'
import { fileFailure } from './fileFailure'
import type { HeldDirectory, Jail } from './jail'
import { takeRightsOf } from './rights'
import { writeStream } from './streams'
import type { Temporaries, TemporaryFile } from './temporaries'
import { namesOf, printable, wirePathOf } from './wirePath'

/** The files of one request: all are received before the first is stored. Ends by `store` or `discard`. */
export interface Upload {
  /**
   * Streams a file to the disk, beside its place.
   * @param path the directory it is meant for, as far as it is known by now; else `store` brings it there.
   * @throws AppError INVALID_INPUT (name), NOT_FOUND, DISK_FULL
   */
  receive(name: string, content: Readable, path: string | undefined): Promise<void>
  /** What is replaced hands on its owner and mode. @throws AppError NAME_TAKEN with `refuse`, CONFLICT where a directory has the name */
  store(path: string, onConflict: OnConflict): Promise<{ name: string; path: string }[]>
  discard(): Promise<void>
}

interface Received {
  name: string
  /** Where it lies until it is stored. */
  directory: HeldDirectory
  temporary: TemporaryFile
}

export function createUploads(jail: Jail, temporaries: Temporaries): { begin(): Upload } {
  return {
    begin() {
      let received: Received[] = []
      /** Held until all has ended, each once, however many files there are. */
      const directories = new Map<string, HeldDirectory>()

      async function directoryOf(path: string | undefined): Promise<HeldDirectory> {
        const names = path === undefined ? [] : namesOf(path)
        const key = wirePathOf(names)
        const directory = directories.get(key) ?? (await jail.directory(names))
        directories.set(key, directory)
        return directory
      }

      async function discard(): Promise<void> {
        const rest = received
        received = []
        // All of them, also when one cannot be removed.
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
            // A form may hold many: none of them stays open.
            await temporary.seal()
            received.push({ name, directory, temporary })
          } catch (error) {
            await temporary?.discard()
            throw fileFailure(error, path === undefined ? name : `${path}/${name}`)
          }
        },

        async store(path, onConflict) {
          const stored: { name: string; path: string }[] = []
          let target: HeldDirectory | undefined
          try {
            const names = namesOf(path)
            target = await jail.directory(names)
            for (let next; (next = received[0]);) {
              const { name, directory, temporary } = next
              let newName = name
              // From here on it is the temporary's own business to vanish.
              received.shift()
              try {
                const into = target
                if (onConflict === 'replace')
                  await temporary.replace(name, into, () => takeRightsOf([into, name], [directory, temporary.name]))
                else if (onConflict === 'refuse') await temporary.placeNew(name, target)
                else newName = await temporary.placeUnderFreeName(name, target)
              } catch (error) {
                throw fileFailure(error, wirePathOf([...names, name]))
              }
              stored.push({ name: newName, path: wirePathOf([...names, newName]) })
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

/** Names from other systems may hold more than those that are made here; not what would make a path or break a line. */
function checkUploadName(name: string): void {
  const refuse = (reason: string) =>
    new AppError('INVALID_INPUT', `files: "${printable(name)}" ${reason}`, { field: 'files' })
  // eslint-disable-next-line no-control-regex -- these are what is refused
  if (name === '' || name === '.' || name === '..' || /[/\\\u0000-\u001f\u007f]/.test(name))
    throw refuse('is not a name of a file')
  namesOf(wirePathOf([name]), 'files')
}
