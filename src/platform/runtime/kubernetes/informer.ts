import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { V1ObjectMeta } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { AppError } from '../../errors'
import { readText } from '../../kubernetes/boundedBody'
import { createBackoff } from './backoff'
import { ClusterRefusal, type ClusterClient } from './clusterClient'

/**
 * The server ends a watch after this time, and the informer resumes it. This detects a server that has stopped
 * answering.
 */
const WATCH_SECONDS = 60
const WATCH_OPTIONS = { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: String(WATCH_SECONDS) }
const WATCH_TIMEOUT_MS = (WATCH_SECONDS + 15) * 1000
const PROBE_TIMEOUT_MS = 4000
const MIN_BACKOFF_MS = 200
const MAX_BACKOFF_MS = 10_000
/** Maximum time for the response to a request. */
const MAX_RESPONSE_MS = 60_000
/**
 * Minimum time between two lists or two watches: a server may forget each version at once, or end each watch at once.
 */
const MIN_ROUND_MS = 200
/** A larger difference between the two clocks means that the time was set. */
const MAX_DRIFT_MS = 1000
/** Maximum size of a list. A Pod takes about 6 kB. */
const MAX_LIST_BYTES = 256 * 2 ** 20
/** Maximum length of an event. The server stores objects of at most 1.5 MiB. */
const MAX_EVENT_LENGTH = 8 * 2 ** 20

export interface KubernetesObject {
  metadata?: V1ObjectMeta
}

interface List<Item> {
  metadata: { resourceVersion: string }
  items: Item[]
}

interface WatchEvent<Item> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: Item & { code?: number; message?: string }
}

export interface InformerParts<Item> {
  client: ClusterClient
  /** Path of the collection, such as `/api/v1/namespaces/games/pods`. */
  path: string
  labelSelector?: string
  fieldSelector?: string
  log: Pick<Logger, 'warn' | 'info'>
  /** Whether an object that the server sends belongs to the copy. Default: each. */
  isIncluded?: (item: Item) => boolean
  onChange: (item: Item) => void
  /** `item` is its last known state. */
  onDelete: (item: Item) => void
}

/** A copy of a collection of the API server, kept up to date by a watch. */
export interface Informer<Item> {
  get(name: string): Item | undefined
  all(): Item[]
  /**
   * Adds the object that a request of the platform has just returned, unless the copy is newer or the object is
   * deleted.
   */
  put(item: Item): void
  /** Resolves after the first list. */
  readonly ready: Promise<void>
  /**
   * The time of the last message from the server while the copy was complete, in milliseconds since the epoch; 0:
   * never.
   */
  readonly syncedAt: number
  /** Sends a request to the server, whose response updates `syncedAt` while the collection is watched. */
  probe(): void
  close(): Promise<void>
}

const now = () => ({ at: Date.now(), uptime: performance.now() })

/**
 * Lists a collection, then watches it. A watch that ends is resumed where it ended; if the server has forgotten that
 * version (410), the collection is listed again. Failed requests are repeated with a back-off of 0.2 to 10 s.
 */
export function startInformer<Item extends KubernetesObject>(parts: InformerParts<Item>): Informer<Item> {
  const { client, path, labelSelector, fieldSelector, log, isIncluded = () => true } = parts
  const selectors = { ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) }
  const copy = createCollectionCopy(parts)
  const closing = new AbortController()
  let version: string | undefined
  /** Without a watch the copy grows old, whatever else the server answers. */
  let isWatching = false
  /** `at` in milliseconds since the epoch, `uptime` on the clock of `performance.now()`, which nobody sets. */
  let synced: { at: number; uptime: number } | undefined
  let setReady = () => undefined as void
  const ready = new Promise<void>((resolve) => (setReady = resolve))

  async function list(): Promise<void> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(WATCH_TIMEOUT_MS)])
    const listed = JSON.parse(
      await readText(await client.stream(path, selectors, signal), MAX_LIST_BYTES),
    ) as List<Item>
    copy.replace(listed.items.filter(isIncluded))
    version = listed.metadata.resourceVersion
    synced = now()
    setReady()
  }

  async function watch(onOpen: () => void): Promise<void> {
    const query = { ...selectors, ...WATCH_OPTIONS, resourceVersion: version ?? '' }
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(WATCH_TIMEOUT_MS)])
    const stream = await client.stream(path, query, signal)
    synced = now()
    isWatching = true
    onOpen()
    try {
      for await (const event of eachEvent<Item>(stream)) handle(event)
      synced = now()
    } finally {
      isWatching = false
    }
  }

  function handle({ type, object }: WatchEvent<Item>): void {
    if (type === 'ERROR') {
      // The watch was accepted, so its version is what the server cannot continue from.
      version = undefined
      throw new ClusterRefusal(object.code ?? 500, object.message ?? '')
    }
    synced = now()
    version = object.metadata?.resourceVersion ?? version
    if (type === 'BOOKMARK' || !isIncluded(object)) return
    if (type === 'DELETED') copy.remove(object)
    else copy.put(object)
  }

  async function run(): Promise<void> {
    const backoff = createBackoff(MIN_BACKOFF_MS, MAX_BACKOFF_MS)
    /** Why the last attempt failed: it is logged once, until the reason changes. */
    let failure: string | undefined
    while (!closing.signal.aborted) {
      const round = delay(MIN_ROUND_MS, undefined, { signal: closing.signal }).catch(() => undefined)
      try {
        if (version === undefined) await list()
        await watch(() => {
          if (failure !== undefined) log.info({ path }, 'the Kubernetes cluster answers again')
          backoff.reset()
          failure = undefined
        })
      } catch (error) {
        if (closing.signal.aborted) return
        // 410 Gone: the server has forgotten the version.
        const isForgotten = error instanceof ClusterRefusal && error.status === 410
        // The collection is also listed again if the server cannot resume, or its response cannot be read.
        if (!isConnectionLost(error) && !isDenied(error)) version = undefined
        if (isForgotten) {
          await round
          continue
        }
        if (failure !== String(error))
          log.warn({ err: error, path }, 'the Kubernetes cluster cannot be watched; retrying')
        failure = String(error)
        await delay(backoff.next(), undefined, { signal: closing.signal }).catch(() => undefined)
      }
      await round
    }
  }

  const running = run()
  return {
    get: copy.get,
    all: copy.all,
    put(item) {
      // The watch may report a deletion before the request that caused it is answered.
      if (!copy.isDeleted(item)) copy.put(item)
    },
    ready,
    get syncedAt() {
      if (!synced) return 0
      const at = Date.now() - (performance.now() - synced.uptime)
      // The clock was set meanwhile. Otherwise the time is the same for each caller.
      if (Math.abs(at - synced.at) > MAX_DRIFT_MS) synced.at = Math.round(at)
      return synced.at
    },
    probe() {
      if (!isWatching) return
      client.stream('/version', {}, AbortSignal.any([closing.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])).then(
        (response) => {
          response.resume().on('error', () => undefined)
          if (isWatching) synced = now()
        },
        () => undefined,
      )
    },
    async close() {
      closing.abort()
      await running
    },
  }
}

/** The objects of a collection by name, and which were deleted lately. */
function createCollectionCopy<Item extends KubernetesObject>({
  onChange,
  onDelete,
}: Pick<InformerParts<Item>, 'onChange' | 'onDelete'>) {
  const items = new Map<string, Item>()
  /** When objects were deleted, by uid. */
  const deletions = new Map<string, number>()

  function put(item: Item): void {
    const { name = '', uid, resourceVersion = '0' } = item.metadata ?? {}
    const known = items.get(name)?.metadata
    if (known?.uid === uid && !isNewer(resourceVersion, known?.resourceVersion ?? '0')) return
    // `managedFields` is unused, and takes a third of a Pod's memory.
    delete item.metadata?.managedFields
    items.set(name, item)
    onChange(item)
  }

  function remove(item: Item): void {
    const { name = '', uid } = item.metadata ?? {}
    if (items.get(name)?.metadata?.uid === uid) items.delete(name)
    for (const [deleted, at] of deletions) if (performance.now() - at > MAX_RESPONSE_MS) deletions.delete(deleted)
    if (uid !== undefined) deletions.set(uid, performance.now())
    onDelete(item)
  }

  return {
    get: (name: string) => items.get(name),
    all: () => [...items.values()],
    put,
    remove,
    isDeleted: ({ metadata }: Item) => deletions.has(metadata?.uid ?? ''),
    /** Removes the objects that a list lacks, and adds those that it has. */
    replace(listed: Item[]) {
      const uids = new Set(listed.map(({ metadata }) => metadata?.uid))
      for (const item of [...items.values()]) if (!uids.has(item.metadata?.uid)) remove(item)
      for (const item of listed) put(item)
    },
  }
}

/**
 * Reads the events of a watch, one in each line. Leaving the loop destroys the stream. @throws Error if one is too long
 */
async function* eachEvent<Item>(stream: Readable): AsyncGenerator<WatchEvent<Item>> {
  let parts: string[] = []
  let length = 0
  for await (const chunk of stream.setEncoding('utf8')) {
    const [first = '', ...others] = String(chunk).split('\n')
    parts.push(first)
    length += first.length
    if (length > MAX_EVENT_LENGTH) throw new Error('the Kubernetes API server sends an event that does not end')
    for (const next of others) {
      yield JSON.parse(parts.join('')) as WatchEvent<Item>
      parts = [next]
      length = next.length
    }
  }
}

/**
 * Versions of one object are comparable numbers (Kubernetes KEP-5504). Of other versions, the last one to arrive is the
 * newest.
 */
function isNewer(version: string, known: string): boolean {
  return !isNumber(version) || !isNumber(known) || BigInt(version) > BigInt(known)
}

const isNumber = (version: unknown) => typeof version === 'string' && /^\d{1,40}$/.test(version)

/** Whether the right to watch is missing. Without this right no list would stay up to date. */
function isDenied(error: unknown): boolean {
  return error instanceof ClusterRefusal && [401, 403].includes(error.status)
}

/** Whether the connection broke without a response, so that the watch can be resumed where it ended. */
function isConnectionLost(error: unknown): boolean {
  return error instanceof AppError || (error as { code?: unknown }).code !== undefined
}
