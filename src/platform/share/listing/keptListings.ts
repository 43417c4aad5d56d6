import { createHash } from 'node:crypto'
import { fstatSync, readlinkSync, statfsSync, watch, type FSWatcher } from 'node:fs'
import { setImmediate as afterPendingEvents } from 'node:timers/promises'
import { FilesResponse, type FileEntry } from '../../../contract/file'
import { toReach, type Reach } from '../reach'
import { readEntries, readEntry, type ListedEntry } from './entries'

/** Smaller directories are read quickly. They are kept for a second, and only if inotify reports every change. */
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
/** Maximum age of a small directory, or of a large one if inotify does not report every change of its entries. */
const SHORT_MAX_AGE_MS = 1000
/**
 * Types of local file systems (statfs(2)). On network file systems inotify reports only the changes of this machine.
 */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e])

export interface ListingTask {
  /** Descriptor of the directory, open until the response. */
  fd: number
  /** The directory's path, as the API writes it. */
  path: string
  /** Real path of the shared area. */
  root: string
  deploymentTypeIndex: number | null
  /** `directories` of the caller's `Reach`; undefined: all. */
  directories?: Reach['directories'] | undefined
}

/** A serialized `FilesResponse`. */
export interface ListingResponse {
  body: Uint8Array
  etag: string
}

interface Kept {
  response: ListingResponse
  entries: Map<string, ListedEntry>
  /** Modification time of the directory. */
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
    let bytes = [...kept.values()].reduce((sum, { response }) => sum + response.body.byteLength, 0)
    for (const [oldest, { response }] of kept) {
      if (bytes <= MAX_KEPT_BYTES && kept.size <= MAX_KEPT) return
      bytes -= response.body.byteLength
      forget(oldest)
    }
  }

  /** @returns undefined if the kernel has no watch left, or does not report every change */
  function tryToWatch(key: string, path: string, changed: Set<string>): FSWatcher | undefined {
    if (!LOCAL.has(statfsSync(path).type)) return undefined
    try {
      return watch(path, { persistent: false })
        .on('error', () => forget(key))
        .on('change', (_, name) => {
          // Several names that are not UTF-8 may read the same.
          const isAmbiguous = typeof name !== 'string' || name.includes('\ufffd')
          if (isAmbiguous || changed.add(name).size > MAX_CHANGED) forget(key)
        })
    } catch {
      return undefined
    }
  }

  return {
    /** @throws AppError TOO_LARGE; Node.js errors of the file system */
    async list({ fd, path, root, deploymentTypeIndex, directories }: ListingTask): Promise<ListingResponse> {
      // Changes that inotify has reported before the task are handled before it.
      await afterPendingEvents()
      const procPath = `/proc/self/fd/${fd}`
      const realPath = readlinkSync(procPath).slice(root.length)
      const directory = { procPath, path, root, within: directories && { reach: toReach(directories), realPath } }
      const { dev, ino, birthtimeNs, mtimeNs, mtimeMs } = fstatSync(fd, { bigint: true })
      // Another directory may take the same path, even the same inode, and each caller sees only what they may use.
      const key = JSON.stringify([`${dev}:${ino}:${birthtimeNs}`, deploymentTypeIndex, path, directories])
      let known = kept.get(key)
      const isUnreported = known?.changed.size === 0 && known.mtimeNs !== mtimeNs
      if (!known || isUnreported || performance.now() >= known.expiresAt) {
        forget(key)
        known = undefined
      }
      kept.delete(key)
      if (known?.changed.size === 0) {
        kept.set(key, known)
        return known.response
      }
      const isFresh = Date.now() - Number(mtimeMs) < TICK_MS
      const changed = known?.changed ?? new Set<string>()
      // Watches before it reads, so that no change is missed.
      const watcher = known?.watcher ?? (isFresh ? undefined : tryToWatch(key, procPath, changed))
      try {
        const entries = known?.entries ?? read.readEntries(directory)
        for (const name of changed) {
          const entry = read.readEntry(directory, name)
          if (entry) entries.set(name, entry)
          else entries.delete(name)
        }
        changed.clear()
        const response = serialize([...entries.values()], deploymentTypeIndex)
        const now = performance.now()
        const expiresAt = Math.min(known?.expiresAt ?? Infinity, now + maxAgeOf(entries))
        if (watcher && now < expiresAt) keep(key, { response, entries, mtimeNs, changed, expiresAt, watcher })
        return response
      } finally {
        if (!kept.has(key)) watcher?.close()
      }
    },
    close() {
      for (const key of kept.keys()) forget(key)
    },
  }
}

/** @returns milliseconds */
function maxAgeOf(entries: Map<string, ListedEntry>): number {
  const isLarge = entries.size >= MIN_KEPT_ENTRIES
  const isReported = [...entries.values()].every((entry) => entry.isReported)
  return isLarge && isReported ? MAX_AGE_MS : isLarge || isReported ? SHORT_MAX_AGE_MS : 0
}

function serialize(files: FileEntry[], deploymentTypeIndex: number | null): ListingResponse {
  const response = FilesResponse.parse({ success: true, data: { files, deploymentTypeIndex } })
  const body = new TextEncoder().encode(JSON.stringify(response))
  return { body, etag: `"${createHash('sha1').update(body).digest('base64url')}"` }
}
