import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { availableParallelism } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { AppError } from '../../errors'
import { childProgram } from '../../childProgram'
import type { Entries } from './entries'
import { tooManyFiles } from '../fileFailure'
import type { OpenDirectory } from '../jail'
import { BUCKETS, hash, LONG, shareOf, type ListingAnswer, type ListingTask } from './listingTask'

/** Processes that list directories, so that neither a large directory nor a mount that hangs holds up anything else. */
export interface ListingPool {
  /**
   * Who asks for what waits to be read already is given the same.
   * @param key of the directory and the path together.
   * @param isDivided to replace single ones later.
   * @throws AppError UNAVAILABLE when the file system does not answer in time, TOO_LARGE; Node.js errors of the file system
   */
  entries(directory: OpenDirectory, path: string, root: string, key: string, isDivided?: boolean): Promise<Entries>
  /** Of some names: a piece for each, empty where there is none (any more). @throws as `entries` */
  entriesNamed(directory: OpenDirectory, path: string, root: string, names: string[]): Promise<Entries>
  close(): Promise<void>
}

/** They cost memory, and more than the disk can feed are no use. */
const PROCESSES = Math.min(4, Math.max(2, availableParallelism()))
/** In milliseconds. */
const TIMEOUT_MS = 20_000
/** Processes that hang in the kernel are left behind; no more than so many. */
const MOST_HANGING = 4
/** Directories that are read at a time: the time that one may take does not count the others before it. */
export const AT_ONCE = 2 * PROCESSES

/** How long the listing of a directory may be. In bytes: half a million entries of the usual length. */
const MOST_BYTES = 64 * 2 ** 20
/** What a process may hold besides, names and what it remembers of files. In MiB. */
const PROCESS_MEMORY = 256

interface Lister {
  child: ChildProcessByStdio<Writable, Readable, null>
  waiting: Map<number, (answer: Answer | AppError) => void>
}

type Answer = Omit<ListingAnswer, 'id' | 'pieces'> & { json: Buffer<ArrayBuffer>[] }
type Asked = Omit<ListingTask, 'id' | 'pid' | 'fd'>

/** @param timeoutMs how long a file system may take, for tests. */
export function createListingPool(timeoutMs = TIMEOUT_MS): ListingPool {
  const listers: (Lister | undefined)[] = Array.from({ length: PROCESSES })
  /** By directory: what has not begun. */
  const waiting = new Map<string, Promise<Entries>>()
  const queue: (() => void)[] = []
  /** The directories that were long when they were last read. */
  const long = new Set<string>()
  let reading = 0
  let hanging = 0
  let isClosed = false
  let lastId = 0

  function start(at: number): Lister {
    // With nothing of the platform's environment.
    const child = spawn(
      process.execPath,
      [`--max-old-space-size=${PROCESS_MEMORY}`, ...childProgram('share/listing/listingMain')],
      { stdio: ['pipe', 'pipe', 'inherit'], env: {} },
    )
    const lister: Lister = { child, waiting: new Map() }
    const fail = () => {
      if (listers[at] === lister) listers[at] = undefined
      const failure = new AppError('UNAVAILABLE', 'Reading the directory was interrupted. Try again.')
      for (const answer of lister.waiting.values()) answer(failure)
    }
    child.on('error', fail)
    child.on('exit', fail)
    // Where there was no descriptor for them it has no streams, whatever the types say; 'error' tells of it later.
    if (!(child.stdin as Writable | undefined)) throw tooManyFiles()
    // What cannot be read is as good as its end, which tells those who wait.
    readAnswers(
      child.stdout,
      ({ id, ...answer }) => lister.waiting.get(id)?.(answer),
      () => child.kill('SIGKILL'),
    )
    // That it has ended is told by the events above.
    child.stdin.on('error', () => undefined)
    for (const handle of [child, child.stdin, child.stdout] as { unref?(): void }[]) handle.unref?.()
    listers[at] = lister
    return lister
  }

  async function ask(at: number, { fd }: OpenDirectory, task: Asked): Promise<Answer> {
    const silent = () => new AppError('UNAVAILABLE', 'The shared area does not answer. Check its disk or its mount.')
    if (hanging >= MOST_HANGING || isClosed) throw silent()
    const lister = listers[at] ?? start(at)
    const id = (lastId += 1)
    const answer = await new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => {
        lister.waiting.delete(id)
        if (listers[at] === lister) {
          listers[at] = undefined
          hanging += 1
          // Not before the kernel lets go of it.
          lister.child.once('exit', () => (hanging -= 1))
          lister.child.kill('SIGKILL')
        }
        reject(silent())
      }, timeoutMs)
      lister.waiting.set(id, (given) => {
        clearTimeout(timer)
        lister.waiting.delete(id)
        if (given instanceof AppError) reject(given)
        else resolve(given)
      })
      lister.child.stdin.write(`${JSON.stringify({ id, pid: process.pid, fd, ...task } satisfies ListingTask)}\n`)
    })
    if (answer.isTooLarge) {
      throw new AppError(
        'TOO_LARGE',
        `This directory holds more than can be listed: its entries would take more than ${MOST_BYTES / 2 ** 20} MiB. Divide it into several on the server.`,
      )
    }
    if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code })
    return answer
  }

  /** Always the same one for a directory: it remembers what it has judged. */
  const firstFor = ({ realPath }: OpenDirectory) => hash(realPath) % PROCESSES

  async function read(directory: OpenDirectory, task: Asked): Promise<Entries> {
    const { realPath } = directory
    const first = firstFor(directory)
    if (!long.has(realPath)) {
      const answer = await ask(first, directory, task)
      if (!answer.isTooLong) return together([answer], task)
    }
    const shares = listers.map(async (_, number) =>
      ask((first + number) % PROCESSES, directory, {
        ...task,
        limit: task.limit / PROCESSES,
        share: { number, of: PROCESSES },
      }),
    )
    const entries = together(await Promise.all(shares), task)
    if (entries.count > LONG) long.add(realPath)
    else long.delete(realPath)
    return entries
  }

  /** Who has read hands the turn to the next. */
  async function inTurn(work: () => Promise<Entries>): Promise<Entries> {
    if (reading < AT_ONCE) reading += 1
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else reading -= 1
    }
  }

  return {
    async entries(directory, path, root, key, isDivided = false) {
      const ownKey = `${isDivided}:${key}`
      const known = waiting.get(ownKey)
      if (known) return known
      let hasBegun = false
      const entries = inTurn(() => {
        hasBegun = true
        waiting.delete(ownKey)
        return read(directory, { path, root, limit: MOST_BYTES, isDivided })
      })
      // One that has begun may have missed what the next one asks for.
      if (!hasBegun) waiting.set(ownKey, entries)
      return entries
    },
    async entriesNamed(directory, path, root, names) {
      const task = { path, root, limit: MOST_BYTES, names }
      return inTurn(async () => together([await ask(firstFor(directory), directory, task)], task))
    },
    async close() {
      isClosed = true
      await Promise.all(
        listers.map(async (lister) => {
          if (!lister) return
          const ended = new Promise((resolve) => lister.child.once('close', resolve))
          lister.child.kill('SIGKILL')
          await ended
        }),
      )
    },
  }
}

/** @param answers of all shares, in their order. */
function together(answers: Answer[], { isDivided }: Asked): Entries {
  const ofBucket = (bucket: number) => answers[shareOf(bucket, answers.length)]?.json[bucket] ?? Buffer.alloc(0)
  return {
    json: isDivided
      ? Array.from({ length: BUCKETS }, (_, bucket) => ofBucket(bucket))
      : answers.flatMap(({ json }) => json),
    count: answers.reduce((sum, { count = 0 }) => sum + count, 0),
    isTold: answers.every(({ isTold }) => isTold),
  }
}

/** Lines of JSON, each with its bytes behind it. @param onUnreadable is called for a line that is no JSON. */
function readAnswers(
  from: Readable,
  onAnswer: (answer: Answer & { id: number }) => void,
  onUnreadable: () => void,
): void {
  let chunks: Buffer[] = []
  let length = 0
  let header: ListingAnswer | undefined
  let bytes = 0
  from.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    // While an answer's bytes come in they are left as they are: joining them each time would take ever longer.
    while (header ? length >= bytes : chunks.at(-1)?.includes('\n')) {
      const all = Buffer.concat(chunks, length)
      const end = header ? bytes : all.indexOf('\n') + 1
      if (header) {
        const { pieces, ...answer } = header
        let at = 0
        onAnswer({ ...answer, json: pieces.map((piece) => all.subarray(at, (at += piece))) })
        header = undefined
      } else {
        try {
          header = JSON.parse(all.toString('utf8', 0, end)) as ListingAnswer
        } catch {
          from.removeAllListeners('data')
          return onUnreadable()
        }
        bytes = header.pieces.reduce((sum, piece) => sum + piece, 0)
      }
      // Nothing of an answer is kept for what follows it.
      chunks = length > end ? [Buffer.from(all.subarray(end))] : []
      length -= end
    }
  })
}
