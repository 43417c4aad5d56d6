import { appendFile, open, readFile, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCodeOf } from '../../../errors'

const REOPEN_TIMEOUT_MS = 2000

/** Identifies a log file; its first line has the number `before + 1`. */
export interface LogFile {
  ino: number
  before: number
}

/** The numbering of the files, as stored beside them. */
export interface LogNumbers {
  current: LogFile
  previous: LogFile | undefined
}

/**
 * The files of a container's log: the current one, its rotated predecessor (`<file>.1`), the next one (`<file>.tmp`)
 * and the numbering of their lines (`<file>.numbers`). A platform that is killed at any point leaves files with which
 * the next one continues.
 */
export class LogFiles {
  readonly previous: string
  /** Conmon’s name for the file that it creates when it reopens its log, and renames. */
  private readonly spare: string
  private readonly numbers: string

  /**
   * @param current path of the log
   * @param reopen makes conmon reopen the log; resolves with false if there is no conmon
   */
  constructor(
    readonly current: string,
    private readonly reopen: () => Promise<boolean>,
  ) {
    this.previous = `${current}.1`
    this.spare = `${current}.tmp`
    this.numbers = `${current}.numbers`
  }

  /** @returns undefined if there is no log */
  async open(): Promise<FileHandle | undefined> {
    return (await openIfExists(this.current)) ?? (await this.openAfterKill())
  }

  /** @throws Node.js errors of the file system */
  async append(rows: string): Promise<void> {
    await appendFile(this.current, rows, { mode: 0o600 })
  }

  /** Moves the log to `previous` and lets conmon begin a new one. @returns false if that is not possible at present */
  async rotate(): Promise<boolean> {
    if (!(await this.createSpare())) return false
    try {
      await rename(this.current, this.previous)
    } catch {
      return false
    }
    try {
      // Without a conmon, nobody else creates the new file.
      if (!(await this.reopenLog())) await this.append('').catch(() => undefined)
      return true
    } catch {
      // Such as no free file descriptor. Conmon still writes to this file.
      await rename(this.previous, this.current).catch(() => undefined)
      return false
    }
  }

  /**
   * Creates the next log while the disk still has an inode for it: conmon ends if it cannot create it, and the instance
   * with it.
   */
  async createSpare(): Promise<boolean> {
    return appendFile(this.spare, '', { mode: 0o600 }).then(
      () => true,
      () => false,
    )
  }

  /** @returns undefined if there is no valid numbering */
  async readNumbers(): Promise<LogNumbers | undefined> {
    return readFile(this.numbers, 'utf8')
      .then((text) => JSON.parse(text) as LogNumbers)
      .catch(() => undefined)
  }

  /** On a full disk, the numbering is not stored. A restart then loses the numbers of this file, but not its lines. */
  async writeNumbers(numbers: LogNumbers): Promise<void> {
    try {
      await writeFile(`${this.numbers}.new`, JSON.stringify(numbers), { mode: 0o600, flush: true })
      await rename(`${this.numbers}.new`, this.numbers)
    } catch {
      // The disk is full.
    }
  }

  /** Removes all files. */
  async remove(): Promise<void> {
    for (const path of [this.current, this.spare, this.previous, this.numbers]) await rm(path, { force: true })
  }

  /** Completes a rotation during which the platform was killed: conmon was not asked yet to reopen its log. */
  private async openAfterKill(): Promise<FileHandle | undefined> {
    if ((await inodeOf(this.previous)) === undefined) return undefined
    const isReopened = await this.reopenLog().catch(() => false)
    return isReopened ? openIfExists(this.current) : undefined
  }

  /**
   * @returns whether there is a new file, which conmon has created
   * @throws Node.js errors if conmon could not be asked
   */
  private async reopenLog(): Promise<boolean> {
    if (!(await this.reopen())) return false
    for (const deadline = performance.now() + REOPEN_TIMEOUT_MS; performance.now() < deadline; await delay(5))
      if ((await inodeOf(this.current)) !== undefined) return true
    return false
  }
}

async function openIfExists(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw error
  })
}

/** @returns undefined if the file does not exist */
export async function inodeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  )
}
