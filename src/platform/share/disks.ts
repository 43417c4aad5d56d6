import { stat, statfs } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { Disk } from '../../contract/disk'

/** Free parts of a disk from which on it counts as low and critical. */
const LOW = 0.1
const CRITICAL = 0.02
/** With less the next small file may already fail. In bytes. */
const FULL = 4 * 2 ** 20
/** The same of inodes: an archive or a save needs a few for a moment. */
const FULL_FILES = 32
const LEVELS = ['ok', 'low', 'critical', 'full'] as const
const INTERVAL_MS = 60_000

export interface Disks {
  /** As they are now: of the data directory, and of the shared area where that is another one and can be asked. */
  list(): Promise<Disk[]>
  close(): void
}

/** Measures the disks when it is asked, and logs every minute when one has become fuller or has room again. */
export function watchDisks(dataDir: string, shareDir: string, log: Logger): Disks {
  const told = new Map<string, Disk['level']>()

  async function list(): Promise<Disk[]> {
    const data = await measure('data', dataDir)
    const share = await measure('share', shareDir).catch(() => undefined)
    return share && share.device !== data.device ? [data.disk, share.disk] : [data.disk]
  }

  const timer = setInterval(() => {
    list().then(
      (disks) => {
        for (const { name, free, total, level, filesLeft } of disks) {
          if (level === (told.get(name) ?? 'ok')) continue
          told.set(name, level)
          log[level === 'ok' ? 'info' : 'warn'](
            { disk: name, free, total, level, filesLeft },
            level === 'ok' ? 'a disk has room again' : `a disk is ${level === 'full' ? 'full' : 'getting full'}`,
          )
        }
      },
      (error: unknown) => log.warn({ err: error }, 'the disks could not be measured'),
    )
  }, INTERVAL_MS)
  return { list, close: () => clearInterval(timer) }
}

async function measure(name: Disk['name'], path: string): Promise<{ device: number; disk: Disk }> {
  const [{ dev }, { bavail, bsize, blocks, files, ffree }] = await Promise.all([stat(path), statfs(path)])
  const [free, total] = [bavail * bsize, blocks * bsize]
  const ofBytes = levelOf(free, total, FULL)
  // Some file systems make inodes as they need them, and tell of none.
  const ofFiles = files > 0 ? levelOf(ffree, files, FULL_FILES) : 'ok'
  if (LEVELS.indexOf(ofFiles) <= LEVELS.indexOf(ofBytes))
    return { device: dev, disk: { name, free, total, level: ofBytes } }
  return { device: dev, disk: { name, free, total, level: ofFiles, filesLeft: ffree } }
}

function levelOf(free: number, total: number, full: number): Disk['level'] {
  return free < full ? 'full' : free <= total * CRITICAL ? 'critical' : free <= total * LOW ? 'low' : 'ok'
}
