import { STATUS_CODES } from 'node:http'
import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { createKeyedQueue } from '../../concurrency/keyedQueue'
import { createSharedRead } from '../../concurrency/sharedRead'
import { AppError } from '../../errors'
import { clusterStartFailure, isTemporaryError } from '../exitMessages'
import type { InstanceSpec, Runtime } from '../runtime'
import { ClusterRefusal, isTemporaryRefusal, type ClusterClient } from './clusterClient'
import type { ConsoleStore } from './console/consoleStore'
import { listNodes } from './nodes'
import { createKeptFiles, type KeptCopies } from './keptFiles'
import { createPodConsoles } from './console/podConsoles'
import { createPodInputs } from './console/podInputs'
import { watchPodCopies } from './podCopies'
import { reportPodEvents } from './podEvents'
import { createPodMessages } from './podMessages'
import { watchPodRuns } from './podRuns'
import { createPods } from './pods'
import { KILL_AFTER_SECONDS, lostMarkOf, podOf, type PodSettings } from './podSpec'
import { hasEnded, hasLog, heldProblem, holdTimeLeft, isOver } from './podState'
import { startPodSteps } from './podSteps'
import { createServices } from './services'
import { createPodUsage } from './podUsage'

/** Minimum time between two lists of the nodes. A list may have megabytes, and any user can request it at any rate. */
const NODES_PAUSE_MS = 250

// Its run has ended in the console, which each run does once.
const FOUND_AGAIN =
  '[System] Its Pod is still there: it had lost the label by which the platform finds it, and has it again. What it prints is shown from its next start on.'

export interface KubernetesParts extends PodSettings {
  copies: KeptCopies
  client: ClusterClient
  store: ConsoleStore
  /**
   * Whether this platform is the manager. Only the manager writes the cluster's messages to consoles and takes the
   * steps that are due.
   */
  isActive: () => boolean
  /** As `isActive`, by the lock's server. */
  confirmActive: () => Promise<boolean>
  /** Called before a Pod is created. @throws AppError when its directories are missing */
  prepare: (spec: InstanceSpec) => Promise<void>
  log: Logger
}

/** Runs instances as Pods of a Kubernetes cluster (decisions §15). The cluster keeps everything but the consoles. */
export function openKubernetesRuntime(parts: KubernetesParts): Runtime {
  const { client, store, isActive, confirmActive, prepare, log } = parts
  const pods = createPods(client)
  const usageOf = createPodUsage(client, log)
  const inTurn = createKeyedQueue()
  const runs = watchPodRuns(client, pods, parts.stateId, isActive, log)

  const consoles = createPodConsoles(runs, client, store, log)
  const inputs = createPodInputs(runs, client, log)
  const copySync = watchPodCopies(runs)
  const messages = createPodMessages(consoles.of)
  const note = (podName: string, text: string) => consoles.of(podName).note(text)
  const keptFiles = createKeptFiles({ runs, pods, copies: parts.copies, note, log })
  const steps = startPodSteps({
    runs,
    pods,
    consoleOf: consoles.of,
    inputOf: inputs.of,
    keptFiles,
    messages,
    inTurn,
    isActive,
    confirmActive,
    log,
  })
  const stopEvents = reportPodEvents({ client, runs, isActive, messages, log })

  async function create(spec: InstanceSpec): Promise<void> {
    const present = runs.get(spec.podName)
    if (present && !isOver(present)) return
    await consoles.of(spec.podName).settle()
    inputs.close(spec.podName)
    if (present) await runs.forget(present)
    else if (await isFoundAgain(spec)) return
    try {
      await prepare(spec)
    } catch (error) {
      const what = spec.copy ? 'its files could not be copied' : 'its directory could not be prepared'
      const reason = error instanceof AppError ? ` (${error.message})` : ''
      runs.startFailed(spec, `Could not be started: ${what}${reason}.`, isTemporaryError(error))
      throw error
    }
    try {
      const pod = await pods.apply(podOf(spec, parts))
      if (await isMarked(spec, pod)) runs.put(pod)
    } catch (error) {
      refuseStart(spec, error)
    }
  }

  /** Whether the instance's Pod is only without its label. Its program may run in the files that a start prepares. */
  async function isFoundAgain(spec: InstanceSpec): Promise<boolean> {
    try {
      const pod = await pods.markAgain(spec.podName, parts.stateId)
      if (!pod) return false
      requireMarks(pod)
      await note(spec.podName, FOUND_AGAIN)
    } catch (error) {
      refuseStart(spec, error)
    }
    return true
  }

  /**
   * Leaves a Pod that may have run for long as it is, unlike one that was just created.
   * @throws ClusterRefusal if it still lacks its marks
   */
  function requireMarks(pod: V1Pod): void {
    const lostMark = lostMarkOf(pod, parts.stateId, 'Pods')
    if (lostMark !== undefined) throw new ClusterRefusal(422, lostMark)
  }

  /** Whether the platform can find a Pod again that it has created. If not, it is deleted: nobody would stop it. */
  async function isMarked(spec: InstanceSpec, pod: V1Pod): Promise<boolean> {
    const lostMark = lostMarkOf(pod, parts.stateId, 'Pods')
    if (lostMark === undefined) return true
    if (spec.keep) await pods.release(pod)
    await pods.delete(pod, KILL_AFTER_SECONDS)
    runs.startFailed(spec, clusterStartFailure(lostMark))
    return false
  }

  function refuseStart(spec: InstanceSpec, error: unknown): void {
    if (!(error instanceof ClusterRefusal)) throw error
    // The client library has no message for a 401.
    const reason = error.message || (STATUS_CODES[error.status] ?? `status ${error.status}`)
    runs.startFailed(spec, clusterStartFailure(reason), isTemporaryRefusal(error))
  }

  function holdOf(podName: string): string | undefined {
    const pod = runs.get(podName)
    return pod && (holdTimeLeft(pod) ?? 1) <= 0 ? heldProblem(pod) : undefined
  }

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
        // It is stopped and removed once it is seen again.
        else {
          const unlabelled = await pods.markAgain(podName, parts.stateId)
          if (unlabelled) return requireMarks(unlabelled)
        }
        await parts.copies.remove(podName)
        runs.forgetRun(podName)
        inputs.close(podName)
        await consoles.remove(podName)
      }),
    async list() {
      return (await runs.instances()).map((run) =>
        run.state === 'STOPPING' ? { ...run, problem: keptFiles.problemOf(run.runId) ?? holdOf(run.podName) } : run,
      )
    },
    watch: (listener) => runs.watch(() => listener()),
    history: (podName, lines) => consoles.of(podName).history(lines),
    follow: (podName, since, listener) => consoles.of(podName).follow(since, listener),
    note,
    async write(podName, line) {
      const pod = runs.get(podName)
      return pod !== undefined && hasLog(pod) && !hasEnded(pod) && inputs.of(podName).write(line)
    },
    publish: createServices(client, parts.stateId, log),
    nodes: createSharedRead(() => listNodes(client, runs.pods()), NODES_PAUSE_MS),
    sample: () => usageOf(runs.pods().filter((pod) => hasLog(pod) && !hasEnded(pod))),
    async close() {
      steps.close()
      stopEvents()
      copySync.close()
      inputs.closeAll()
      await consoles.close()
      await runs.close()
    },
  }
}
