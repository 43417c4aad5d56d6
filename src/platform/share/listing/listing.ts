import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import type { ErrorCode } from '../../../contract/errors'
import { childProgram } from '../../childProgram'
import { createKeyedSharedRead } from '../../concurrency/sharedRead'
import { AppError, errorCodeOf } from '../../errors'
import { formatPath, parsePath } from '../apiPath'
import { NO_RESPONSE, tooManyFiles } from '../fileFailure'
import { withDirectory, type Jail } from '../jail'
import type { Reach } from '../reach'
import type { ListingResponse, ListingTask } from './keptListings'

/**
 * One more than a user occupies (`createFairQueue`), so that a hung disk does not hold up the listings of another. A
 * worker is started only while all others are busy.
 */
const MAX_WORKERS = 3
/** Timeout of a listing, without its wait for a worker. */
const TIMEOUT_MS = 20_000
/** Number of workers that may be left behind in hung system calls. */
const MAX_HUNG = 4
/** Heap of a worker in MiB: the longest listing, as entries and as text. */
const WORKER_MEMORY = 512

export interface Listing {
  /**
   * The serialized response of `GET /api/sftp/files`. Calls during a read of the same directory share the next read.
   * @param within the part of the shared area that the caller may use; such calls are not shared
   * @throws AppError INVALID_INPUT, NOT_FOUND, CONFLICT (not a directory), NOT_ALLOWED, TOO_LARGE, UNAVAILABLE
   */
  list(
    path: string,
    deploymentTypeIndex: number | null,
    within?: { jail: Jail; reach: Reach },
  ): Promise<{ body: Buffer; etag: string }>
  close(): Promise<void>
}

/**
 * Lists directories in worker threads, so that neither a large directory nor a hung disk blocks the event loop. A
 * thread in a hung system call cannot be ended: after the timeout it is left behind, and another one takes its place.
 * It ends when the kernel returns. Until then the platform cannot exit by itself, only by SIGKILL. The same holds for
 * Node.js's own threads, in which the jail opens every path first, so a separate process for listings would not help.
 */
export function createListing(jail: Jail): Listing {
  /** The last worker is used next, so that one worker keeps most listings. */
  const idle: Worker[] = []
  const workers = new Set<Worker>()
  const hung = new Set<Worker>()
  const inTurn = pLimit(MAX_WORKERS)
  const shared = createKeyedSharedRead<{ body: Buffer; etag: string }>()
  let isClosed = false

  /** @throws AppError UNAVAILABLE when no thread can be started */
  function start(): Worker {
    const worker = createWorker()
    workers.add(worker)
    // `ask` handles the error. Without a listener, an error between two calls would end the platform.
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      for (const all of [workers, hung]) all.delete(worker)
      if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1)
    })
    worker.unref()
    return worker
  }

  async function ask(task: ListingTask): Promise<{ body: Buffer; etag: string }> {
    if (isClosed || hung.size >= MAX_HUNG) throw noResponse()
    const worker = idle.pop() ?? start()
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    worker.postMessage(task)
    const [reply] = (await once(worker, 'message', { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw interrupted(error)
      workers.delete(worker)
      hung.add(worker)
      void worker.terminate()
      throw noResponse()
    })) as [ListingResponse | { code: ErrorCode; message: string }]
    idle.push(worker)
    if ('code' in reply) throw new AppError(reply.code, reply.message)
    const { buffer, byteOffset, byteLength } = reply.body
    return { body: Buffer.from(buffer, byteOffset, byteLength), etag: reply.etag }
  }

  return {
    async list(path, deploymentTypeIndex, within) {
      const segments = parsePath(path)
      const task = { path: formatPath(segments), deploymentTypeIndex }
      const read = () =>
        withDirectory((within?.jail ?? jail).openDirectory(segments), ({ fd, root }) =>
          inTurn(() => ask({ ...task, fd, root, directories: within?.reach.directories })),
        )
      return within ? read() : shared(`${deploymentTypeIndex}:${task.path}`, read)
    },
    async close() {
      isClosed = true
      await Promise.all([...workers].map((worker) => worker.terminate()))
    },
  }
}

const noResponse = () => new AppError('UNAVAILABLE', NO_RESPONSE)

function createWorker(): Worker {
  const program = childProgram('share/listing/listingMain')
  try {
    return new Worker(program.at(-1)!, {
      execArgv: program.slice(0, -1),
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: WORKER_MEMORY },
    })
  } catch (error) {
    // The number of threads is limited like that of processes.
    if (errorCodeOf(error) !== 'ERR_WORKER_INIT_FAILED') throw error
    throw new AppError('UNAVAILABLE', 'The system’s limit of processes is reached. Try again in a moment.')
  }
}

/** @param cause why the worker has ended: it lacked descriptors to start, its memory was full, or it has a bug. */
function interrupted(cause: unknown): AppError {
  if (['ERR_WORKER_INIT_FAILED', 'EMFILE', 'ENFILE'].includes(errorCodeOf(cause) ?? '')) return tooManyFiles()
  return Object.assign(new AppError('UNAVAILABLE', 'Reading the directory was interrupted. Try again.'), { cause })
}
