import { constants } from 'node:fs'
import { open, readlink, type FileHandle } from 'node:fs/promises'
import { errorCodeOf } from '../errors'

/** open(2): opens a path without reading it, blocking on a FIFO or touching a device. Not exported by Node.js. */
export const O_PATH = 0o10000000

/** The kernel's limit of links in a path (path_resolution(7)). */
const MAX_LINKS = 40

/** The calls to the file system, synchronous or with promises. */
export interface StepCalls<File> {
  /** @throws Node.js errors of the file system */
  open(path: string, flags: number): File | Promise<File>
  /** A path to the open file itself, which the kernel resolves without following names. */
  procPath(file: File): string
  isLink(file: File): boolean | Promise<boolean>
  readlink(path: string): string | Promise<string>
  close(file: File): void | Promise<void>
}

/** Decides which directories a path may lead through. */
export interface Passage {
  /**
   * Called for each directory that the path leads through, by a name or by a link.
   * @param directory its real path. @throws the error with which the resolution fails
   */
  through(directory: string): void
}

/** Runs the resolution with synchronous calls. */
export function runSync<Result>(steps: Generator<unknown, Result>): Result {
  let step = steps.next()
  while (!step.done) step = steps.next(step.value)
  return step.value
}

/** Runs the resolution with calls that return promises. */
export async function runAsync<Result>(steps: Generator<unknown, Result>): Promise<Result> {
  let step = steps.next()
  while (!step.done) {
    const { value } = step
    step = await Promise.resolve(value).then(
      (result) => steps.next(result),
      (error: unknown) => steps.throw(error),
    )
  }
  return step.value
}

/**
 * Opens a path as open(2) does with O_PATH, but checks each step. The kernel reports only where a path ends; for a user
 * who creates links, success or failure of the whole path would reveal what exists on the way.
 * @param from path of the directory to begin in
 * @param names the names of the path, including `..` and links
 * @throws what the calls and the passage throw; an error with the code ELOOP
 */
export function* openBySteps<File>(
  calls: StepCalls<File>,
  from: string,
  names: readonly string[],
  passage: Passage,
): Generator<unknown, File> {
  let links = 0

  function* walk(start: string, [name, ...rest]: readonly string[]): Generator<unknown, File> {
    const directory = (yield calls.open(start, O_PATH | constants.O_DIRECTORY)) as File
    let next: File
    try {
      passage.through((yield calls.readlink(calls.procPath(directory))) as string)
      if (name === undefined) return directory
      next = yield* openEntry(directory, name)
    } catch (error) {
      yield calls.close(directory)
      throw error
    }
    yield calls.close(directory)
    if (rest.length === 0) return next
    try {
      return yield* walk(calls.procPath(next), rest)
    } finally {
      yield calls.close(next)
    }
  }

  function* openEntry(directory: File, name: string): Generator<unknown, File> {
    const path = `${calls.procPath(directory)}/${name}`
    const entry = (yield calls.open(path, O_PATH | constants.O_NOFOLLOW)) as File
    try {
      if (!((yield calls.isLink(entry)) as boolean)) return entry
    } catch (error) {
      yield calls.close(entry)
      throw error
    }
    yield calls.close(entry)
    if ((links += 1) > MAX_LINKS) throw Object.assign(new Error('Too many links'), { code: 'ELOOP' })
    let target: string
    try {
      target = (yield calls.readlink(path)) as string
    } catch (error) {
      // It was replaced by something else meanwhile.
      if (errorCodeOf(error) === 'EINVAL') return yield* openEntry(directory, name)
      throw error
    }
    const start = target.startsWith('/') ? '/' : calls.procPath(directory)
    return yield* walk(start, target.split('/').filter(isName))
  }

  return yield* walk(from, names.filter(isName))
}

/** For `runAsync`. */
export const stepCalls: StepCalls<FileHandle> = {
  open: (path, flags) => open(path, flags),
  procPath: ({ fd }) => `/proc/self/fd/${fd}`,
  isLink: async (file) => (await file.stat()).isSymbolicLink(),
  readlink: (path) => readlink(path),
  close: (file) => file.close(),
}

/**
 * Resolves a path, unless it leads through a forbidden directory.
 * @param from path of the directory to begin in. @param path relative to `from`; may have `..` and links
 * @param isAllowed whether the path may lead through this directory
 * @returns the real path; undefined if it is forbidden or missing
 */
export async function realPathThrough(
  from: string,
  path: string,
  isAllowed: (directory: string) => boolean,
): Promise<string | undefined> {
  const through = (directory: string) => {
    if (!isAllowed(directory)) throw new Error('The path passes through a link that leads elsewhere')
  }
  try {
    const found = await runAsync(openBySteps(stepCalls, from, path.split('/'), { through }))
    return await readlink(stepCalls.procPath(found)).finally(() => found.close())
  } catch {
    return undefined
  }
}

const isName = (name: string) => name !== '' && name !== '.'
