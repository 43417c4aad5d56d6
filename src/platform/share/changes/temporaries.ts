import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, unlink, writeFile, type FileHandle } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../../errors'
import type { EntryLocks } from './entryLocks'
import { withDirectory, openSubdirectory, type OpenDirectory, type Jail } from '../jail'
import { renameNoReplace, placeUnderFreeName } from './placing'
import { removeTree } from './removal'
import { inheritOwner } from '../ownership'
import { internalName } from '../internalNames'
import { createFile, syncDirectory } from '../directoryEntries'

/**
 * An unfinished file or directory, hidden beside its destination. End it with exactly one method; a failure removes it.
 * `to` is another directory on the same file system. Placing takes the lock of the destination's name.
 */
export interface Temporary {
  readonly name: string
  /**
   * Replaces the file of this name atomically, or creates it.
   * @param check last check under the lock; throw to keep the existing file.
   * @throws Node.js errors of the file system
   */
  replace(name: string, to?: OpenDirectory, check?: () => Promise<void>): Promise<void>
  /** @throws AppError NAME_TAKEN */
  placeNew(name: string, to?: OpenDirectory): Promise<void>
  /** @returns the name it got: `name (2)` if `name` was taken. */
  placeUnderFreeName(name: string, to?: OpenDirectory): Promise<string>
  discard(): Promise<void>
}

export interface TemporaryFile extends Temporary {
  readonly handle: FileHandle
  /** Syncs and closes the complete file, which may then stay unplaced. @throws Node.js errors of the file system */
  seal(): Promise<void>
}

export interface TemporaryDirectory extends Temporary {
  readonly directory: OpenDirectory
}

/**
 * Unfinished files of the shared area. They lie beside their destination (decisions §3: a rename within one file system
 * is atomic) and are recorded in the data directory, so that the next start removes what a killed platform left.
 */
export interface Temporaries {
  /** `directory` must stay open until the temporary has ended. */
  file(directory: OpenDirectory, mode?: number): Promise<TemporaryFile>
  directory(directory: OpenDirectory): Promise<TemporaryDirectory>
}

/** Also removes what an earlier process left. Only one process at a time may use the data directory. */
export async function openTemporaries(
  dataDir: string,
  jail: Jail,
  withLocks: EntryLocks,
  log: Logger,
): Promise<Temporaries> {
  const records = join(dataDir, 'temporaries')
  await mkdir(records, { recursive: true, mode: 0o700 })
  await removeLeftovers(records, jail, log)

  async function create<Extra>(
    directory: OpenDirectory,
    {
      make,
      sync,
      close,
    }: {
      make: (name: string) => Promise<Extra>
      sync: (extra: Extra) => Promise<unknown>
      close: (extra: Extra) => Promise<void>
    },
  ): Promise<Temporary & { extra: Extra; seal: () => Promise<void> }> {
    const id = randomUUID()
    const name = internalName(id)
    const recordFile = join(records, id)
    const deleteRecord = () => unlink(recordFile)
    await writeFile(recordFile, join(directory.realPath, name)).catch(async (error: unknown) => {
      // The record may have been created without its content.
      await deleteRecord().catch(() => undefined)
      if (!['ENOSPC', 'EDQUOT'].includes(errorCodeOf(error) ?? '')) throw error
      throw new AppError('DISK_FULL', 'The disk of the platform’s data directory is full. Nothing was changed.')
    })
    const extra = await make(name).catch(async (error: unknown) => {
      await deleteRecord()
      throw error
    })
    let isSealed = false
    const seal = async () => {
      if (isSealed) return
      await sync(extra)
      await close(extra)
      isSealed = true
    }
    const discard = async () => {
      if (!isSealed) await close(extra).catch(() => undefined)
      await removeTree(directory, name)
      await deleteRecord()
    }
    const placeWith = async <Result>(place: () => Promise<Result>): Promise<Result> => {
      try {
        // Sync before taking the lock, because it takes long.
        await seal()
        const result = await place()
        await deleteRecord()
        return result
      } catch (error) {
        await discard()
        throw error
      }
    }
    const withLock = (to: OpenDirectory, target: string, place: () => Promise<void>) =>
      withLocks([[to, target]], async () => {
        await place()
        await inheritOwner(to, target)
        await syncDirectory(to)
      })
    const placeNewIn = (to: OpenDirectory) => (target: string) =>
      withLock(to, target, () => renameNoReplace(directory, name, to, target))
    return {
      name,
      extra,
      seal,
      replace: (target, to = directory, check) =>
        placeWith(() =>
          withLock(to, target, async () => {
            await check?.()
            await rename(directory.entryPath(name), to.entryPath(target))
          }),
        ),
      placeNew: (target, to = directory) => placeWith(() => placeNewIn(to)(target)),
      placeUnderFreeName: (target, to = directory) => placeWith(() => placeUnderFreeName(target, placeNewIn(to))),
      discard,
    }
  }

  return {
    async file(directory, mode) {
      const { extra: handle, ...temporary } = await create(directory, {
        make: (name) => createFile(directory, name, mode),
        sync: (opened) => opened.sync(),
        close: (opened) => opened.close(),
      })
      return { ...temporary, handle }
    },
    async directory(directory) {
      const { extra, ...temporary } = await create(directory, {
        make: async (name) => {
          await mkdir(directory.entryPath(name), { mode: 0o755 })
          const made = await openSubdirectory(directory, name)
          if (!made) throw new Error('A directory that was just made is not there')
          return made
        },
        // One syncfs(2) instead of 100,000 fsyncs, which take minutes. Without `sync` the kernel flushes later.
        sync: ({ realPath }) => promisify(execFile)('sync', ['-f', realPath]).catch(() => undefined),
        close: (made) => made.close(),
      })
      return { ...temporary, directory: extra }
    },
  }
}

async function removeLeftovers(records: string, jail: Jail, log: Logger): Promise<void> {
  for (const id of await readdir(records)) {
    try {
      const path = await readFile(join(records, id), 'utf8')
      // The process was killed before it wrote the record, so there is no file yet.
      if (path === '') {
        await unlink(join(records, id))
        continue
      }
      // Not found if the directory was moved or the share is elsewhere: the operator has to remove it.
      const segments = relative(await jail.root(), dirname(path))
        .split('/')
        .filter(Boolean)
      await withDirectory(jail.openDirectory(segments), (directory) => removeTree(directory, internalName(id))).catch(
        (error: unknown) => {
          if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
        },
      )
      await unlink(join(records, id))
    } catch (error) {
      log.warn({ err: error, code: errorCodeOf(error) }, 'an unfinished file of an earlier run could not be removed')
    }
  }
}
