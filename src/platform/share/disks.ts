import { open, readFile, stat, statfs } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { Disk } from '../../contract/disk'
import { createBoundedRead } from '../concurrency/sharedRead'
import { O_PATH } from './followLinks'

/** Fraction of free space at or below which a disk counts as low or critical. */
const LOW = 0.1
const CRITICAL = 0.02
/** Free bytes below which even a small write may fail. */
const FULL_BYTES = 4 * 2 ** 20
/** Free inodes below which even a small write may fail: an archive or a save briefly needs several. */
const FULL_INODES = 32
/**
 * Bytes and inodes that copies of files leave free on their disk, where the platform's state may be, and the largest
 * part of the disk that this may be.
 */
const RESERVED_BYTES = 64 * 2 ** 20
const RESERVED_INODES = 16_384
const RESERVED_PART = 0.1
const LEVELS = ['ok', 'low', 'critical', 'full'] as const
const INTERVAL_MS = 60_000
/** Network file systems answer in milliseconds, or not at all. */
const SHARE_MS = 2000

export interface Disks {
  /**
   * Current state of the fullest disk of the platform's own data, and of the shared area's if that is another disk and
   * can be read.
   */
  list(): Promise<Disk[]>
  close(): void
}

/**
 * Measures the disks on demand, and logs each change of level once a minute.
 * @param ownDirs directories within the data directory that may be on disks of their own, or missing
 */
export function watchDisks(dataDir: string, ownDirs: string[], shareDir: string, log: Logger): Disks {
  const loggedLevels = new Map<string, Disk['level']>()
  const measureShare = createBoundedRead(() => measure('share', shareDir), SHARE_MS)

  async function list(): Promise<Disk[]> {
    const data = await measure('data', dataDir)
    const own = await Promise.all(ownDirs.map((path) => measure('data', path).catch(() => data)))
    const [worst] = [data, ...own].sort((a, b) => rankOf(b.disk) - rankOf(a.disk))
    const share = await measureShare().catch(() => undefined)
    return [worst, share?.device === data.device ? undefined : share].flatMap((measured) => measured?.disk ?? [])
  }

  const timer = setInterval(() => {
    list().then(
      (disks) => {
        for (const { name, free, total, level, filesLeft } of disks) {
          if (level === (loggedLevels.get(name) ?? 'ok')) continue
          loggedLevels.set(name, level)
          log[level === 'ok' ? 'info' : 'warn'](
            { disk: name, free, total, level, filesLeft },
            level === 'ok' ? 'a disk has room again' : `a disk is ${level === 'full' ? 'full' : 'getting full'}`,
          )
        }
      },
      (error: unknown) => log.warn({ err: error }, 'failed to measure the disks'),
    )
  }, INTERVAL_MS)
  return { list, close: () => clearInterval(timer) }
}

/**
 * Whether the disk of a directory has room for copies of files.
 * @param bytes that the next copy is going to take
 * @throws Node.js errors of the file system
 */
export async function hasRoomForCopies(path: string, bytes = 0): Promise<boolean> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(path)
  return (
    bavail * bsize - bytes >= Math.min(RESERVED_BYTES, blocks * bsize * RESERVED_PART) &&
    ffree >= Math.min(RESERVED_INODES, files * RESERVED_PART)
  )
}

/** Whether the disk of a directory has room for at least small writes; true if it cannot be measured. */
export async function hasDiskRoom(path: string): Promise<boolean> {
  return measure('data', path).then(
    ({ disk }) => disk.level !== 'full',
    () => true,
  )
}

async function measure(name: Disk['name'], path: string): Promise<{ device: number; disk: Disk }> {
  const [{ dev }, { bavail, bsize, blocks, files, ffree }] = await Promise.all([stat(path), statfs(path)])
  const [free, total] = [bavail * bsize, blocks * bsize]
  const byteLevel = levelOf(free, total, FULL_BYTES)
  // File systems that allocate inodes on demand report 0.
  const inodeLevel = files > 0 ? levelOf(ffree, files, FULL_INODES) : 'ok'
  if (LEVELS.indexOf(inodeLevel) <= LEVELS.indexOf(byteLevel))
    return { device: dev, disk: { name, free, total, level: byteLevel } }
  return { device: dev, disk: { name, free, total, level: inodeLevel, filesLeft: ffree } }
}

const rankOf = ({ level }: Disk) => LEVELS.indexOf(level)

function levelOf(free: number, total: number, full: number): Disk['level'] {
  return free < full ? 'full' : free <= total * CRITICAL ? 'critical' : free <= total * LOW ? 'low' : 'ok'
}

/** Returns the id of the mount at a path (proc(5): /proc/pid/fdinfo), or '' where the kernel does not say it. */
export async function mountIdOf(path: string): Promise<string> {
  const handle = await open(path, O_PATH)
  try {
    return /^mnt_id:\s+(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${handle.fd}`, 'utf8'))?.[1] ?? ''
  } finally {
    await handle.close()
  }
}
