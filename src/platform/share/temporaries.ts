import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, unlink, writeFile, type FileHandle } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../errors'
import type { EntryTurns } from './entryTurns'
import { holding, openSubdirectory, type HeldDirectory, type Jail } from './jail'
import { placeNew, placeUnderFreeName, syncDirectory } from './placing'
import { createFile, removeTree } from './removal'
import { inheritOwner } from './ownership'
import { ownName } from './ownNames'

/**
 * A file or directory in the making, hidden beside the place it is meant for. Ends by exactly one of its functions; when one of
 * them fails it is gone. `to` is another directory of the same file system. Each waits for the entry's turn (`EntryTurns`).
 */
export interface Temporary {
  readonly name: string
  /**
   * Takes the place of the file of this name, if there is one, at once.
   * @param check a last look at what is to be replaced, in the entry's turn; it throws where that must stay.
   * @throws Node.js errors of the file system
   */
  replace(name: string, to?: HeldDirectory, check?: () => Promise<void>): Promise<void>
  /** @throws AppError NAME_TAKEN */
  placeNew(name: string, to?: HeldDirectory): Promise<void>
  /** @returns the name it got: `name (2)` where it was taken. */
  placeUnderFreeName(name: string, to?: HeldDirectory): Promise<string>
  discard(): Promise<void>
}

export interface TemporaryFile extends Temporary {
  readonly handle: FileHandle
  /** All is written: it is synced and closed, and may lie there for as long as it takes. @throws Node.js errors of the file system */
  seal(): Promise<void>
}

export interface TemporaryDirectory extends Temporary {
  readonly directory: HeldDirectory
}

/**
 * Unfinished files of the shared area. They lie beside their place (decisions §3: a rename on one file system is atomic) and
 * are noted in the data directory, so that the next start removes what a killed platform left, wherever it is.
 */
export interface Temporaries {
  /** `directory` must stay held until the temporary has ended. */
  file(directory: HeldDirectory, mode?: number): Promise<TemporaryFile>
  directory(directory: HeldDirectory): Promise<TemporaryDirectory>
}

/** Also removes what an earlier process of this data directory left; one process at a time uses it. */
export async function openTemporaries(
  dataDir: string,
  jail: Jail,
  turns: EntryTurns,
  log: Logger,
): Promise<Temporaries> {
  const notes = join(dataDir, 'temporaries')
  await mkdir(notes, { recursive: true, mode: 0o700 })
  await removeLeftOvers(notes, jail, log)

  async function begin<Extra>(
    directory: HeldDirectory,
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
    const name = ownName(id)
    const note = join(notes, id)
    const forget = () => unlink(note)
    await writeFile(note, join(directory.realPath, name)).catch(async (error: unknown) => {
      // It may have been made and found no room for what it says.
      await forget().catch(() => undefined)
      if (!['ENOSPC', 'EDQUOT'].includes(errorCodeOf(error) ?? '')) throw error
      throw new AppError('DISK_FULL', 'The disk of the platform’s data directory is full. Nothing was changed.')
    })
    const extra = await make(name).catch(async (error: unknown) => {
      await forget()
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
      await forget()
    }
    const finish = async <Result>(place: () => Promise<Result>): Promise<Result> => {
      try {
        // What takes long comes before the turn.
        await seal()
        const result = await place()
        await forget()
        return result
      } catch (error) {
        await discard()
        throw error
      }
    }
    const inTurn = (to: HeldDirectory, target: string, place: () => Promise<void>) =>
      turns([[to, target]], async () => {
        await place()
        await inheritOwner(to, target)
        await syncDirectory(to)
      })
    const placeHere = (to: HeldDirectory) => (target: string) =>
      inTurn(to, target, () => placeNew(directory, name, to, target))
    return {
      name,
      extra,
      seal,
      replace: (target, to = directory, check) =>
        finish(() =>
          inTurn(to, target, async () => {
            await check?.()
            await rename(directory.entry(name), to.entry(target))
          }),
        ),
      placeNew: (target, to = directory) => finish(() => placeHere(to)(target)),
      placeUnderFreeName: (target, to = directory) => finish(() => placeUnderFreeName(target, placeHere(to))),
      discard,
    }
  }

  return {
    async file(directory, mode) {
      const { extra: handle, ...temporary } = await begin(directory, {
        make: (name) => createFile(directory, name, mode),
        sync: (opened) => opened.sync(),
        close: (opened) => opened.close(),
      })
      return { ...temporary, handle }
    },
    async directory(directory) {
      const { extra, ...temporary } = await begin(directory, {
        make: async (name) => {
          await mkdir(directory.entry(name), { mode: 0o755 })
          const held = await openSubdirectory(directory, name)
          if (!held) throw new Error('A directory that was just made is not there')
          return held
        },
        // All at once (syncfs(2)): a call for each of 100,000 files would take minutes. Without the program the kernel does it in its time.
        sync: ({ realPath }) => promisify(execFile)('sync', ['-f', realPath]).catch(() => undefined),
        close: (held) => held.close(),
      })
      return { ...temporary, directory: extra }
    },
  }
}

async function removeLeftOvers(notes: string, jail: Jail, log: Logger): Promise<void> {
  for (const id of await readdir(notes)) {
    try {
      const path = await readFile(join(notes, id), 'utf8')
      // Killed before the first byte of the note, when there was nothing yet to note.
      if (path === '') {
        await unlink(join(notes, id))
        continue
      }
      // The path of one that was moved since, or of a share that is elsewhere now, leads nowhere: then it stays for a person to find.
      const names = relative(await jail.root(), dirname(path))
        .split('/')
        .filter(Boolean)
      await holding(jail.directory(names), (directory) => removeTree(directory, ownName(id))).catch(
        (error: unknown) => {
          if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
        },
      )
      await unlink(join(notes, id))
    } catch (error) {
      log.warn({ err: error, code: errorCodeOf(error) }, 'an unfinished file of an earlier run could not be removed')
    }
  }
}
