import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { availableParallelism } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { AppError } from '../errors'
import { childProgram } from './childProgram'
import { tooManyFiles } from './fileFailure'
import type { HeldDirectory } from './jail'
import { hash, LONG, type ListingAnswer, type ListingTask } from './listingTask'

/** Entries as JSON, without the brackets around them. */
export interface Entries {
  json: Uint8Array<ArrayBuffer>[]
  count: number
  /** Whether the kernel tells who watches the directory of every change to these. */
  isTold: boolean
}

/** Processes that list directories, so that neither a large directory nor a mount that hangs holds up anything else. */
export interface ListingPool {
  /**
   * Who asks for what waits to be read already is given the same.
   * @param key of the directory and the path together.
   * @throws AppError UNAVAILABLE when the file system does not answer in time, TOO_LARGE; Node.js errors of the file system
   */
  entries(directory: HeldDirectory, path: string, root: string, key: string): Promise<Entries>
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

type Answer = Omit<ListingAnswer, 'id' | 'bytes'> & { json: Buffer<ArrayBuffer> }

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
    const child = spawn(process.execPath, [`--max-old-space-size=${PROCESS_MEMORY}`, ...childProgram('listingMain')], { stdio: ['pipe', 'pipe', 'inherit'], env: {} })
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
    readAnswers(child.stdout, ({ id, ...answer }) => lister.waiting.get(id)?.(answer))
    // That it has ended is told by the events above.
    child.stdin.on('error', () => undefined)
    for (const handle of [child, child.stdin, child.stdout] as { unref?(): void }[]) handle.unref?.()
    listers[at] = lister
    return lister
  }

  async function ask(at: number, task: Omit<ListingTask, 'id' | 'pid'>): Promise<Answer> {
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
      lister.child.stdin.write(`${JSON.stringify({ id, pid: process.pid, ...task } satisfies ListingTask)}\n`)
    })
    if (answer.isTooLarge) {
      throw new AppError('TOO_LARGE', `This directory holds more than can be listed: its entries would take more than ${MOST_BYTES / 2 ** 20} MiB. Divide it into several on the server.`)
    }
    if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code })
    return answer
  }

  async function read({ fd, realPath }: HeldDirectory, path: string, root: string): Promise<Entries> {
    // Always the same one for a directory: it remembers what it has judged.
    const first = hash(realPath) % PROCESSES
    if (!long.has(realPath)) {
      const answer = await ask(first, { fd, path, root, limit: MOST_BYTES })
      if (!answer.isTooLong) return together([answer])
    }
    const shares = listers.map(async (_, number) => ask((first + number) % PROCESSES, { fd, path, root, limit: MOST_BYTES / PROCESSES, share: { number, of: PROCESSES } }))
    const entries = together(await Promise.all(shares))
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
    async entries(directory, path, root, key) {
      const known = waiting.get(key)
      if (known) return known
      let hasBegun = false
      const entries = inTurn(() => {
        hasBegun = true
        waiting.delete(key)
        return read(directory, path, root)
      })
      // One that has begun may have missed what the next one asks for.
      if (!hasBegun) waiting.set(key, entries)
      return entries
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

function together(answers: Answer[]): Entries {
  return {
    json: answers.filter(({ count }) => count).map(({ json }) => json),
    count: answers.reduce((sum, { count = 0 }) => sum + count, 0),
    isTold: answers.every(({ isTold }) => isTold),
  }
}

/** Lines of JSON, each with its bytes behind it. */
function readAnswers(from: Readable, onAnswer: (answer: Answer & { id: number }) => void): void {
  let chunks: Buffer[] = []
  let length = 0
  let header: ListingAnswer | undefined
  from.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    // While an answer's bytes come in they are left as they are: joining them each time would take ever longer.
    while (header ? length >= header.bytes : chunks.at(-1)?.includes('\n')) {
      const all = Buffer.concat(chunks, length)
      const end = header ? header.bytes : all.indexOf('\n') + 1
      if (header) {
        const { bytes: _, ...answer } = header
        onAnswer({ ...answer, json: all.subarray(0, end) })
        header = undefined
      } else header = JSON.parse(all.toString('utf8', 0, end)) as ListingAnswer
      // Nothing of an answer is kept for what follows it.
      chunks = length > end ? [Buffer.from(all.subarray(end))] : []
      length -= end
    }
  })
}
