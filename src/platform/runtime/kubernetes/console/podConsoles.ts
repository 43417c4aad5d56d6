import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { createSharedRead } from '../../../concurrency/sharedRead'
import type { ClusterClient } from '../clusterClient'
import type { PodRuns } from '../podRuns'
import type { ConsoleStore } from './consoleStore'
import { PodConsole } from './podConsole'
import { readPodLog } from './podLog'

/** Interval at which the store is read for lines of watched consoles that other platforms have stored. */
const STORE_POLL_MS = 250

export interface PodConsoles {
  of: (podName: string) => PodConsole
  remove(podName: string): Promise<void>
  close(): Promise<void>
}

/** The consoles of all instances, each created when it is first needed. */
export function createPodConsoles(
  runs: PodRuns,
  client: ClusterClient,
  store: ConsoleStore,
  log: Pick<Logger, 'warn'>,
): PodConsoles {
  const reader = randomUUID()
  const consoles = new Map<string, PodConsole>()

  // One read at a time: a slow state gets no more of them than a fast one.
  const deliverStored = createSharedRead(async () => {
    const watched = [...consoles].filter(([, { isWatched }]) => isWatched).map(([podName]) => podName)
    if (watched.length === 0) return
    const newest = await store.newest(watched)
    newest.forEach((last, podName) => consoles.get(podName)?.deliverTo(last))
  })
  const storePoll = setInterval(() => void deliverStored().catch(() => undefined), STORE_POLL_MS)
  const unwatch = runs.watch((podName) => consoles.get(podName)?.wake())

  return {
    of(podName) {
      const known =
        consoles.get(podName) ??
        new PodConsole({
          podName,
          store,
          reader,
          run: () => runs.runOf(podName),
          readLog: (options) => readPodLog(client, podName, options),
          log,
        })
      consoles.set(podName, known)
      return known
    },
    async remove(podName) {
      await consoles.get(podName)?.close()
      consoles.delete(podName)
      await store.remove(podName)
    },
    async close() {
      unwatch()
      clearInterval(storePoll)
      await Promise.all([...consoles.values()].map((console) => console.close()))
    },
  }
}
