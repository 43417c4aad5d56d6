import { createHash } from 'node:crypto'
import { fstatSync, readlinkSync, statfsSync, watch, type FSWatcher } from 'node:fs'
import { setImmediate as afterPendingEvents } from 'node:timers/promises'
import { FilesAnswer, type FileEntry } from '../../../contract/file'
import { toReach, type Reach } from '../reach'
import { readEntries, readEntry, type ListedDirectory } from './entries'

/** Directories with fewer entries are kept for a second, and only if inotify reports every change of their entries. */
const MIN_KEPT_ENTRIES = 500
/** Each listing takes a watch of the kernel, of which a user has a limited number. */
const MAX_KEPT = 500
const MAX_KEPT_BYTES = 32 * 2 ** 20
/** Resolution of the kernel's modification times: two changes within it may leave the same time. */
const TICK_MS = 20
/** If more entries have changed, the directory is read as a whole. */
const MAX_CHANGED = 100
/** Maximum age of a kept listing, because inotify drops events when its queue is full. */
const MAX_AGE_MS = 30_000
/** Maximum age if inotify does not report every change of the entries, or the directory is read quickly. */
const SHORT_MAX_AGE_MS = 1000
/**
 * Types of local file systems (statfs(2)). On network file systems inotify reports only the changes of this machine.
 */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e])

export interface ListingTask {
  /** Descriptor of the directory, open until the answer. */
  fd: number
  /** The directory's path, as the API writes it. */
  path: string
  /** Real path of the shared area. */
  root: string
  deploymentTypeIndex: number | null
  /** `directories` of the caller's `Reach`; undefined: all. */
  directories?: Reach['directories'] | undefined
}

/** A serialized `FilesAnswer`. */
export interface ListingAnswer {
  body: Uint8Array
  etag: string
}

interface Kept {
  answer: ListingAnswer
  entries: Map<string, FileEntry>
  /** Device and inode, because another directory may take the same path. */
  identity: string
  mtimeNs: bigint
  /** Names that inotify has reported since. */
  changed: Set<string>
  /** When the listing is too old, on the clock of `performance.now()`. */
  expiresAt: number
  watcher: FSWatcher
}

/**
 * Lists directories, and keeps listings. inotify reports which entries must be read again. If the modification
 * time has changed without a report, the whole directory is read. Use it only in a thread of its own, as `readEntries`.
 * @param read overridden by tests
 */
export function createKeptListings(read = { readEntries, readEntry }) {
  /** The most recently used last. */
  const kept = new Map<string, Kept>()

  function forget(key: string): void {
    kept.get(key)?.watcher.close()
    kept.delete(key)
  }

  function keep(key: string, listing: Kept): void {
    kept.set(key, listing)
    let bytes = [...kept.values()].reduce((sum, { answer }) => sum + answer.body.byteLength, 0)
    for (const [oldest, { answer }] of kept) {
      if (bytes <= MAX_KEPT_BYTES && kept.size <= MAX_KEPT) return
      bytes -= answer.body.byteLength
      forget(oldest)
    }
  }

  function update(listing: Kept, directory: ListedDirectory, deploymentTypeIndex: number | null): void {
    for (const name of listing.changed) {
      const found = read.readEntry(directory, name)
      if (found) listing.entries.set(name, found.entry)
      else listing.entries.delete(name)
      if (found?.isReported === false) {
        const maxAge = listing.entries.size >= MIN_KEPT_ENTRIES ? SHORT_MAX_AGE_MS : 0
        listing.expiresAt = Math.min(listing.expiresAt, performance.now() + maxAge)
      }
    }
    listing.changed.clear()
    listing.answer = serialize([...listing.entries.values()], deploymentTypeIndex)
  }

  return {
    /** @throws AppError TOO_LARGE; Node.js errors of the file system */
    async list({ fd, path, root, deploymentTypeIndex, directories }: ListingTask): Promise<ListingAnswer> {
      // Changes that inotify has reported before the task are handled before it.
      await afterPendingEvents()
      const procPath = `/proc/self/fd/${fd}`
      const within = directories && {
        reach: toReach(directories),
        realPath: readlinkSync(procPath).slice(root.length),
      }
      const directory = { procPath, path, root, within }
      // Part of the key, because each caller sees only what they may use.
      const key = JSON.stringify([deploymentTypeIndex, path, directories])
      const { dev, ino, mtimeNs, mtimeMs } = fstatSync(fd, { bigint: true })
      const identity = `${dev}:${ino}`
      const known = kept.get(key)
      const isKnown = known?.identity === identity && performance.now() < known.expiresAt
      if (isKnown && (known.changed.size > 0 || known.mtimeNs === mtimeNs)) {
        kept.delete(key)
        kept.set(key, known)
        try {
          if (known.changed.size > 0) update(known, directory, deploymentTypeIndex)
        } catch (error) {
          forget(key)
          throw error
        }
        known.mtimeNs = mtimeNs
        return known.answer
      }
      forget(key)
      const isFresh = Date.now() - Number(mtimeMs) < TICK_MS
      const canBeKept = !isFresh && LOCAL.has(statfsSync(directory.procPath).type)
      // Watches before it reads, so that no change is missed.
      const watcher = canBeKept ? tryToWatch(directory.procPath) : undefined
      const changed = new Set<string>()
      watcher
        ?.on('error', () => forget(key))
        .on('change', (_, name) => {
          // Several names that are not UTF-8 may read the same.
          const isAmbiguous = typeof name !== 'string' || name.includes('\ufffd')
          if (isAmbiguous || changed.add(name).size > MAX_CHANGED) forget(key)
        })
      try {
        const { entries: all, isReported } = read.readEntries(directory)
        const isLarge = all.length >= MIN_KEPT_ENTRIES
        const expiresAt = performance.now() + (isReported && isLarge ? MAX_AGE_MS : SHORT_MAX_AGE_MS)
        const answer = serialize(all, deploymentTypeIndex)
        if (watcher && (isReported || isLarge)) {
          const entries = new Map(all.map((entry) => [entry.name, entry]))
          keep(key, { answer, entries, identity, mtimeNs, changed, expiresAt, watcher })
        }
        return answer
      } finally {
        if (!kept.has(key)) watcher?.close()
      }
    },
    close() {
      for (const key of kept.keys()) forget(key)
    },
  }
}

/** @returns undefined if the kernel has no watch left. */
function tryToWatch(path: string): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false })
  } catch {
    return undefined
  }
}

function serialize(files: FileEntry[], deploymentTypeIndex: number | null): ListingAnswer {
  const answer = FilesAnswer.parse({ success: true, data: { files, deploymentTypeIndex } })
  const body = new TextEncoder().encode(JSON.stringify(answer))
  return { body, etag: `"${createHash('sha1').update(body).digest('base64url')}"` }
}
