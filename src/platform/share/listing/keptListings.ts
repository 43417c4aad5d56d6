import { createHash } from 'node:crypto'
import { fstatSync, statfsSync, watch, type FSWatcher } from 'node:fs'
import { setImmediate as afterPendingEvents } from 'node:timers/promises'
import { FilesAnswer, type FileEntry } from '../../../contract/file'
import { readEntries } from './entries'

/** Directories with fewer entries are read each time. */
const MIN_KEPT_ENTRIES = 500
const MAX_KEPT_BYTES = 32 * 2 ** 20
/** Resolution of the kernel's modification times: a directory that was changed within it may change again unseen. */
const TICK_MS = 20
/** Maximum age of a kept listing, because inotify drops events when its queue is full. */
const MAX_AGE_MS = 30_000
/** The same if inotify does not report every change of its entries. */
const MAX_AGE_UNREPORTED_MS = 1000
/** Types of local file systems (statfs(2)). On network file systems inotify reports only the changes of this machine. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e])

export interface ListingTask {
  /** Descriptor of the directory, open until the answer. */
  fd: number
  /** As the API writes it. */
  path: string
  /** Real path of the shared area. */
  root: string
  deploymentTypeIndex: number | null
}

/** A serialized `FilesAnswer`. */
export interface ListingAnswer {
  body: Uint8Array
  etag: string
}

interface Kept {
  answer: ListingAnswer
  /** Which directory it is, because another one may take its path, and when it was changed. */
  version: string
  /** When it is too old, on the clock of `performance.now()`. */
  expiresAt: number
  watcher: FSWatcher
}

/**
 * Lists directories, and keeps the answers for large ones until something in them changes, which inotify reports and
 * the modification time of the directory shows, whichever comes first. Like `readEntries` only for a thread of its own.
 * @param read overridden by tests
 */
export function createKeptListings(read = readEntries) {
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
      if (bytes <= MAX_KEPT_BYTES) return
      bytes -= answer.body.byteLength
      forget(oldest)
    }
  }

  return {
    /** @throws AppError TOO_LARGE; Node.js errors of the file system */
    async list({ fd, path, root, deploymentTypeIndex }: ListingTask): Promise<ListingAnswer> {
      // Changes that inotify has reported before the task are handled before it.
      await afterPendingEvents()
      const procPath = `/proc/self/fd/${fd}`
      const key = `${deploymentTypeIndex}:${path}`
      const { dev, ino, mtimeNs, mtimeMs } = fstatSync(fd, { bigint: true })
      const version = `${dev}:${ino}:${mtimeNs}`
      const known = kept.get(key)
      if (known?.version === version && performance.now() < known.expiresAt) {
        kept.delete(key)
        kept.set(key, known)
        return known.answer
      }
      forget(key)
      const isFresh = Date.now() - Number(mtimeMs) < TICK_MS
      // Watches before it reads, so that no change falls between.
      const watcher = isFresh || !LOCAL.has(statfsSync(procPath).type) ? undefined : tryToWatch(procPath)
      watcher?.on('change', () => forget(key)).on('error', () => forget(key))
      try {
        const { entries, isReported } = read({ procPath, path, root })
        const expiresAt = performance.now() + (isReported ? MAX_AGE_MS : MAX_AGE_UNREPORTED_MS)
        const answer = serialize(entries, deploymentTypeIndex)
        if (watcher && entries.length >= MIN_KEPT_ENTRIES) keep(key, { answer, version, expiresAt, watcher })
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
