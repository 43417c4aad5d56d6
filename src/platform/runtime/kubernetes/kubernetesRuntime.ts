import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { createKeyedQueue } from '../../concurrency/keyedQueue'
import { createSharedRead } from '../../concurrency/sharedRead'
import { AppError } from '../../errors'
import type { InstanceSpec, Runtime } from '../runtime'
import { ClusterRefusal, type ClusterClient } from './clusterClient'
import type { ConsoleStore } from './console/consoleStore'
import { listNodes } from './nodes'
import { createKeptFiles, type KeptCopies } from './keptFiles'
import { PodConsole } from './console/podConsole'
import { PodInput } from './console/podInput'
import { readPodLog } from './console/podLog'
import { watchPodCopies } from './podCopies'
import { reportPodEvents } from './podEvents'
import { watchPodRuns } from './podRuns'
import { createPods } from './pods'
import { podOf, type PodSettings } from './podSpec'
import { hasEnded, hasLog, isOver } from './podState'
import { startPodSteps } from './podSteps'
import { createServices } from './services'
import { createPodUsage } from './podUsage'

/** Interval at which the store is read for lines of watched consoles that other platforms have stored. */
const STORE_POLL_MS = 250
/** Minimum time between two lists of the nodes. A list may have megabytes, and any user can request it at any rate. */
const NODES_PAUSE_MS = 250

export interface KubernetesParts extends PodSettings {
  copies: KeptCopies
  client: ClusterClient
  store: ConsoleStore
  /**
   * Whether this platform is the manager. Only the manager writes the cluster's messages to consoles and takes the
   * steps that are due.
   */
  isActive: () => boolean
  /** Called before a Pod is created. @throws AppError when its directories are missing */
  prepare: (spec: InstanceSpec) => Promise<void>
  log: Logger
}

/** Runs instances as Pods of a Kubernetes cluster (decisions §15). The cluster keeps everything but the consoles. */
export function openKubernetesRuntime(parts: KubernetesParts): Runtime {
  const { client, store, isActive, prepare, log } = parts
  const reader = randomUUID()
  const pods = createPods(client)
  const usageOf = createPodUsage(client, log)
  const inTurn = createKeyedQueue()
  const consoles = new Map<string, PodConsole>()
  /** The input of each instance's run, by instance. */
  const inputs = new Map<string, { runId: string | undefined; input: PodInput }>()
  const runs = watchPodRuns(client, pods, log)

  function consoleOf(podName: string): PodConsole {
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
  }

  function inputOf(podName: string): PodInput {
    const runId = runs.runOf(podName)?.runId
    const known = inputs.get(podName)
    if (known && known.runId === runId) return known.input
    // The connection to an ended Pod may stay open, and lines written to it are lost.
    known?.input.close()
    const input = new PodInput(client, podName, log)
    inputs.set(podName, { runId, input })
    return input
  }

  function closeInput(podName: string): void {
    inputs.get(podName)?.input.close()
    inputs.delete(podName)
  }

  const copySync = watchPodCopies(runs)
  const unwatch = runs.watch((podName) => consoles.get(podName)?.wake())
  const note = (podName: string, text: string) => consoleOf(podName).note(text)
  const keptFiles = createKeptFiles({ runs, pods, copies: parts.copies, note, log })
  const steps = startPodSteps({ runs, pods, consoleOf, inputOf, keptFiles, inTurn, isActive, log })
  const stopEvents = reportPodEvents({ client, runs, isActive, writeMessages: steps.writeMessages, log })

  async function create(spec: InstanceSpec): Promise<void> {
    const present = runs.get(spec.podName)
    if (present && !isOver(present)) return
    await consoleOf(spec.podName).settle()
    closeInput(spec.podName)
    if (present) await runs.forget(present)
    try {
      await prepare(spec)
    } catch (error) {
      const what = spec.copy ? 'its files could not be copied' : 'its directory could not be prepared'
      runs.startFailed(spec, `Could not be started: ${what}${error instanceof AppError ? ` (${error.message})` : ''}.`)
      throw error
    }
    try {
      runs.put(await pods.apply(podOf(spec, parts)))
    } catch (error) {
      if (!(error instanceof ClusterRefusal)) throw error
      runs.startFailed(spec, `Could not be started: ${error.message}`)
    }
  }

  const storePoll = setInterval(() => {
    const watched = [...consoles].filter(([, { isWatched }]) => isWatched).map(([podName]) => podName)
    if (watched.length === 0) return
    store.newest(watched).then(
      (newest) => newest.forEach((last, podName) => consoles.get(podName)?.deliverTo(last)),
      () => undefined,
    )
  }, STORE_POLL_MS)

  return {
    isolation: 'contained',
    sharesPorts: false,
    usesReplicas: false,
    copySync,
    get lastContactAt() {
      return runs.syncedAt
    },
    limits: 'CPU and memory by the cluster',
    enforced: { cpu: true, memory: true },
    ensure: (spec) => inTurn(spec.podName, () => create(spec)),
    stop: steps.stop,
    kill: steps.kill,
    remove: (podName) =>
      inTurn(podName, async () => {
        const pod = runs.get(podName)
        if (pod && !isOver(pod)) return
        if (pod) await runs.forget(pod)
        await parts.copies.remove(podName)
        runs.forgetRun(podName)
        closeInput(podName)
        await consoles.get(podName)?.close()
        consoles.delete(podName)
        await store.remove(podName)
      }),
    list: () => runs.instances(),
    watch: (listener) => runs.watch(() => listener()),
    history: (podName, lines) => consoleOf(podName).history(lines),
    follow: (podName, since, listener) => consoleOf(podName).follow(since, listener),
    note,
    async write(podName, line) {
      const pod = runs.get(podName)
      return pod !== undefined && hasLog(pod) && !hasEnded(pod) && inputOf(podName).write(line)
    },
    publish: createServices(client, log),
    nodes: createSharedRead(() => listNodes(client, runs.pods()), NODES_PAUSE_MS),
    sample: () => usageOf(runs.pods().filter((pod) => hasLog(pod) && !hasEnded(pod))),
    async close() {
      steps.close()
      stopEvents()
      unwatch()
      copySync.close()
      clearInterval(storePoll)
      for (const { input } of inputs.values()) input.close()
      await Promise.all([...consoles.values()].map((console) => console.close()))
      await runs.close()
    },
  }
}
