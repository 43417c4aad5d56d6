import { watch, type FSWatcher } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { fileFailure } from '../fileFailure'
import { withDirectory, type OpenDirectory, type Jail } from '../jail'
import { bytesOf, changesCost, withChanges, type Entries } from './entries'
import type { ListingPool } from './listingPool'
import { parsePath, formatPath } from '../apiPath'

/** Directories of fewer entries are read anew each time. */
const KEPT_FROM = 500
const MOST_KEPT = 64
/** In bytes. */
const MOST_KEPT_BYTES = 64 * 2 ** 20
/** Modification times are no finer than the kernel's tick: what is read for the first time within it may have changed after all. In milliseconds. */
const TICK_MS = 20
/** Where more has changed, all is read: the processes do that, and names are put in their places by the platform itself. */
const MOST_CHANGED = 100
/** So much may be looked through for that. In bytes: a few milliseconds. */
const MOST_COST = 16 * 2 ** 20
/** So old at the most, because the kernel drops what it would tell when too much happens at once. In milliseconds. */
const MOST_AGE_MS = 30_000
/** The same, where it does not tell of everything: what is in a directory, or behind a link, of this one. In milliseconds. */
const MOST_AGE_UNTOLD_MS = 1000
/** File systems of this machine alone (statfs(2)): of these inotify tells every change, of network ones only our own. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e])

export interface Listing {
  /** The entries of a directory, as JSON without brackets. @throws AppError NOT_FOUND, CONFLICT (not a directory), NOT_ALLOWED, TOO_LARGE, UNAVAILABLE */
  list(path: string): Promise<Entries>
  close(): Promise<void>
}

interface Kept {
  entries: Promise<Entries>
  /** Which directory it is (device and inode): another one may have taken its path. */
  identity: string
  /** When the directory was changed last, as of the last reading. */
  mtimeNs: bigint
  /** The names of what may have changed since. Of what happens to the directory itself libuv tells a name, too, which is no entry's. */
  changed: Set<string>
  /** When it is too old, as `performance.now()` tells. */
  until: number
  bytes: number
  watcher: FSWatcher
}

/**
 * Reads directories; large ones are kept until something in them changes, which the kernel tells (inotify) and the directory's own
 * modification time shows, whichever comes first.
 */
export function createListing(jail: Jail, pool: ListingPool): Listing {
  /** By real path, and by the path it was asked for: the entries' own paths begin with that. */
  const kept = new Map<string, Kept>()
  /** Which directories were large when they were last read. */
  const large = new Set<string>()

  function forget(key: string): void {
    kept.get(key)?.watcher.close()
    kept.delete(key)
  }

  function makeRoom(): void {
    let bytes = [...kept.values()].reduce((sum, entry) => sum + entry.bytes, 0)
    for (const [key, entry] of kept) {
      if (kept.size <= MOST_KEPT && bytes <= MOST_KEPT_BYTES) return
      bytes -= entry.bytes
      forget(key)
    }
  }

  async function keep(
    directory: OpenDirectory,
    key: string,
    state: Pick<Kept, 'identity' | 'mtimeNs'>,
    read: () => Promise<Entries>,
  ): Promise<Entries> {
    let watcher: FSWatcher
    try {
      watcher = watch(directory.procPath, { persistent: false })
    } catch {
      // The kernel has no watch left: then it is read each time.
      return read()
    }
    // Watched first and read then: nothing falls in between.
    const entry: Kept = {
      ...state,
      entries: read(),
      changed: new Set(),
      until: performance.now() + MOST_AGE_MS,
      bytes: 0,
      watcher,
    }
    const giveUp = () => {
      if (kept.get(key) === entry) forget(key)
    }
    watcher.on('change', (_, name) => {
      // Of a name that is no UTF-8 there may be several that read the same.
      if (typeof name !== 'string' || name.includes('\ufffd')) giveUp()
      else if (entry.changed.add(name).size > MOST_CHANGED) giveUp()
    })
    watcher.on('error', giveUp)
    forget(key)
    kept.set(key, entry)
    return measured(entry, key)
  }

  async function measured(entry: Kept, key: string): Promise<Entries> {
    try {
      const entries = await entry.entries
      entry.bytes = bytesOf(entries)
      if (!entries.isTold) entry.until = Math.min(entry.until, performance.now() + MOST_AGE_UNTOLD_MS)
      makeRoom()
      return entries
    } catch (error) {
      if (kept.get(key) === entry) forget(key)
      throw error
    }
  }

  /** Of the few that have changed, each is asked for by its name; unless to put them in their places would hold up everything else. */
  function renew(
    entry: Kept,
    key: string,
    mtimeNs: bigint,
    read: (names?: string[]) => Promise<Entries>,
  ): Promise<Entries> {
    const names = [...entry.changed]
    // Before they are read: what changes from now on is asked for again.
    entry.changed.clear()
    entry.mtimeNs = mtimeNs
    entry.entries = entry.entries.then(async (before) =>
      changesCost(before, names) > MOST_COST ? read() : withChanges(before, names, await read(names)),
    )
    return measured(entry, key)
  }

  /** What is kept of a directory, where that can still be so. */
  function known(key: string, identity: string): Kept | undefined {
    const entry = kept.get(key)
    if (!entry) return undefined
    kept.delete(key)
    kept.set(key, entry)
    if (entry.identity === identity && performance.now() < entry.until) return entry
    forget(key)
    return undefined
  }

  return {
    async list(path) {
      const names = parsePath(path)
      return withDirectory(jail.openDirectory(names), async (directory) => {
        const { dev, ino, mtimeNs, mtimeMs } = await directory.stats()
        const identity = `${dev}:${ino}`
        const { realPath, root } = directory
        const wirePath = formatPath(names)
        const key = `${realPath}:${wirePath}`
        const readAll = (isDivided: boolean) => pool.entries(directory, wirePath, root, `${identity}:${key}`, isDivided)
        const entry = known(key, identity)
        if (entry && entry.changed.size > 0) {
          return renew(entry, key, mtimeNs, (changed) =>
            changed ? pool.entriesNamed(directory, wirePath, root, changed) : readAll(true),
          )
        }
        if (entry?.mtimeNs === mtimeNs) return entry.entries
        // Something has changed of which the kernel did not tell.
        if (entry) forget(key)
        const isFresh = Date.now() - Number(mtimeMs) < TICK_MS
        const isKept = large.has(realPath) && !isFresh && LOCAL.has((await statfs(directory.procPath)).type)
        const entries = await (isKept
          ? keep(directory, key, { identity, mtimeNs }, () => readAll(true))
          : readAll(false))
        if (entries.count >= KEPT_FROM) large.add(realPath)
        else large.delete(realPath)
        return entries
      }).catch((error: unknown) => {
        throw fileFailure(error, path)
      })
    },
    async close() {
      for (const key of [...kept.keys()]) forget(key)
      await pool.close()
    },
  }
}
