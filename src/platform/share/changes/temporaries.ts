import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, rename, type FileHandle } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../../errors'
import type { EntryLocks } from './entryLocks'
import { withDirectory, openSubdirectory, type OpenDirectory, type Jail } from '../jail'
import { entryExists, renameNoReplace, placeUnderFreeName } from './placing'
import { removeTree } from './removal'
import { inheritOwner } from '../ownership'
import { internalName } from '../internalNames'
import { createFile, syncDirectory } from '../directoryEntries'
import { openTemporaryRecords, type TemporaryRecords } from './temporaryRecords'

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
 * is atomic) and are recorded, so that the files of a killed platform are removed.
 */
export interface Temporaries {
  /** `parent` must stay open until the temporary has ended. */
  file(parent: OpenDirectory, mode?: number): Promise<TemporaryFile>
  directory(parent: OpenDirectory): Promise<TemporaryDirectory>
}

/** Interval of the checks for files that ended replicas left behind. */
const SWEEP_MS = 10 * 60_000

/**
 * Also removes files that an earlier process left behind.
 * @param records default: records in the data directory
 */
export async function openTemporaries(
  dataDir: string,
  jail: Jail,
  withLocks: EntryLocks,
  log: Logger,
  records?: TemporaryRecords,
): Promise<Temporaries> {
  const kept = records ?? (await openTemporaryRecords(dataDir))
  await removeLeftovers(kept, jail, log)
  // Records in the data directory belong to one process, so they need no later checks.
  const sweep = records && setInterval(() => void removeLeftovers(records, jail, log), SWEEP_MS)
  sweep?.unref()
  const recorded: TemporaryRecords = {
    ...kept,
    // A file in its place must not be reported as failed because of its record, which is removed later, as a leftover.
    remove: (id) =>
      kept.remove(id).catch((error: unknown) => log.warn({ err: error }, 'failed to remove the record of a file')),
  }

  return {
    async file(parent, mode) {
      const { opened: handle, ...temporary } = await createTemporary(recorded, withLocks, parent, {
        make: (name) => createFile(parent, name, mode),
        sync: (opened) => opened.sync(),
        close: (opened) => opened.close(),
      })
      return { ...temporary, handle }
    },
    async directory(parent) {
      const { opened: directory, ...temporary } = await createTemporary(recorded, withLocks, parent, {
        make: async (name) => {
          await mkdir(parent.entryPath(name), { mode: 0o755 })
          const made = await openSubdirectory(parent, name)
          if (!made) throw new Error('A temporary directory is missing right after its creation')
          return made
        },
        // One syncfs(2) instead of 100,000 fsyncs, which take minutes. Without `sync` the kernel flushes later.
        sync: ({ realPath }) => promisify(execFile)('sync', ['-f', realPath]).catch(() => undefined),
        close: (made) => made.close(),
      })
      return { ...temporary, directory }
    },
  }
}

/** How the content of a temporary is created, flushed and closed. */
interface Content<Opened> {
  make: (name: string) => Promise<Opened>
  sync: (opened: Opened) => Promise<unknown>
  close: (opened: Opened) => Promise<void>
}

/** Creates a temporary in a directory, with its record. */
async function createTemporary<Opened>(
  records: TemporaryRecords,
  withLocks: EntryLocks,
  directory: OpenDirectory,
  { make, sync, close }: Content<Opened>,
): Promise<Temporary & { opened: Opened; seal: () => Promise<void> }> {
  const id = randomUUID()
  const name = internalName(id)
  const deleteRecord = () => records.remove(id)
  await records.add(id, join(directory.realPath, name))
  const opened = await make(name).catch(async (error: unknown) => {
    await deleteRecord()
    throw error
  })
  let isSealed = false
  const seal = async () => {
    if (isSealed) return
    await sync(opened)
    await close(opened)
    isSealed = true
  }
  const discard = async () => {
    if (!isSealed) await close(opened).catch(() => undefined)
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
    opened,
    seal,
    replace: (target, to = directory, check) =>
      placeWith(() =>
        withLock(to, target, async () => {
          await check?.()
          await rename(directory.entryPath(name), to.entryPath(target))
        }),
      ),
    placeNew: (target, to = directory) => placeWith(() => placeNewIn(to)(target)),
    placeUnderFreeName: (target, to = directory) =>
      placeWith(() => placeUnderFreeName(target, (candidate) => entryExists(to, candidate), placeNewIn(to))),
    discard,
  }
}

async function removeLeftovers(records: TemporaryRecords, jail: Jail, log: Logger): Promise<void> {
  const warn = (error: unknown) =>
    log.warn({ err: error, code: errorCodeOf(error) }, 'failed to remove an unfinished file of an earlier run')
  const leftovers = await records.leftovers().catch((error: unknown) => (warn(error), []))
  for (const { id, path } of leftovers) {
    try {
      // The process was killed before it wrote the record, so there is no file yet.
      if (path !== '') {
        // Not found if the directory was moved or the share is elsewhere: the operator has to remove it.
        const segments = relative(await jail.root(), dirname(path))
          .split('/')
          .filter(Boolean)
        await withDirectory(jail.openDirectory(segments), (directory) => removeTree(directory, internalName(id))).catch(
          (error: unknown) => {
            if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
          },
        )
      }
      await records.remove(id)
    } catch (error) {
      warn(error)
    }
  }
}
