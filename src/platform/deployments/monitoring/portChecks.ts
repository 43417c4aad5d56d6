import type { RuntimeInstance } from '../../runtime/runtime'
import type { InstanceRow } from '../../state/deployments/instances'
import type { PortOwner, Listening } from './listeningSockets'

/** Time for a ready instance to listen on its port. */
const LISTEN_TIMEOUT_MS = 30_000
/** Time for the processes of an ended run to release its port. */
const RELEASE_TIMEOUT_MS = 10_000

/** Replaces the name of a deployment that the reader may not know of. */
const UNNAMED = 'another program'

type Row = Pick<InstanceRow, 'pod_name' | 'deployment'>

/** Whether a port is free, is about to be released, or is taken. */
export type PortCheck = 'free' | 'beingReleased' | { takenBy: string }

/** `NAMED_DEPLOYMENT` matches these texts. */
const nameDeployment = ({ deployment, pod_name }: Row) => `the deployment "${deployment}" (${pod_name})`
const NAMED_DEPLOYMENT = /the deployment "([a-z0-9-]+)" \([a-z0-9-]+\)/g

/**
 * Removes from a text the names of deployments that its reader may not know of.
 * @param text a reason or warning, in which deployments are named as `describeOwner` does
 * @param isNamed whether a deployment may be named
 */
export function hideDeployments(text: string, isNamed: (deployment: string) => boolean): string {
  return text.replaceAll(NAMED_DEPLOYMENT, (named, deployment: string) => (isNamed(deployment) ? named : UNNAMED))
}

/**
 * Checks whether an instance can start on a port.
 * @param rows all instances, for the name of the port's owner
 * @param runs the runs of all instances
 * @param now milliseconds since the epoch
 */
export async function checkPort(
  port: number,
  row: Row,
  rows: Row[],
  runs: Iterable<RuntimeInstance>,
  listening: Listening | undefined,
  now: number,
): Promise<PortCheck> {
  const all = [...runs]
  const found = await listening?.ownerOf(port)
  const owner = found?.kind === 'unsure' ? undefined : found
  if (owner?.kind === 'instance' && owner.podName === row.pod_name) {
    const endedAt = all.find(({ podName }) => podName === row.pod_name)?.exit?.at ?? 0
    return Math.abs(now - endedAt) < RELEASE_TIMEOUT_MS
      ? 'beingReleased'
      : { takenBy: 'a process that an earlier run of this instance left behind' }
  }
  if (owner) return { takenBy: describeOwner(owner, rows) }
  // Another instance may have been given the same port without listening on it yet.
  const rival = all.find(
    (run) => run.podName !== row.pod_name && run.port === port && mayListenSoon(run, listening, now),
  )
  return rival ? { takenBy: describeOwner({ kind: 'instance', podName: rival.podName }, rows) } : 'free'
}

function mayListenSoon({ state, startedAt }: RuntimeInstance, listening: Listening | undefined, now: number): boolean {
  if (state === 'EXITED') return false
  return state === 'STARTING' || !listening || Math.abs(now - startedAt) < LISTEN_TIMEOUT_MS
}

/**
 * Names the owner of a port for messages: `the deployment "lobby" (lobby-abc123)`. For readers with limited rights,
 * pass the text through `hideDeployments`.
 */
export function describeOwner(owner: PortOwner, rows: Row[]): string {
  if (owner.kind === 'unknown' || owner.kind === 'unsure') return UNNAMED
  if (owner.kind === 'instance') {
    const row = rows.find(({ pod_name }) => pod_name === owner.podName)
    return row ? nameDeployment(row) : 'an instance that is being removed'
  }
  return owner.pid === process.pid ? 'Quarterdeck itself' : `the program "${owner.name}" (process ${owner.pid})`
}

/** Whether the owner of a port is this instance, or may be. */
export function mayBeOf(owner: PortOwner | undefined, podName: string): boolean {
  if (owner?.kind === 'instance') return owner.podName === podName
  return owner?.kind === 'unknown' || owner?.kind === 'unsure'
}

/** Checks that ready instances listen on their ports. */
export class ListenWatch {
  /** When a ready run was first seen not listening, by run id. */
  private silentSince = new Map<string, number>()

  /** Forgets all runs but these. */
  keepOnly(runIds: string[]): void {
    this.silentSince = new Map([...this.silentSince].filter(([runId]) => runIds.includes(runId)))
  }

  /** @returns a warning for the operator; undefined if the run listens, is not ready or has time left */
  check(
    { podName, runId, state }: RuntimeInstance,
    port: number,
    owner: PortOwner | undefined,
    rows: Row[],
    now: number,
  ): string | undefined {
    if (mayBeOf(owner, podName) || state !== 'RUNNING') {
      this.silentSince.delete(runId)
      return undefined
    }
    const since = Math.min(this.silentSince.get(runId) ?? now, now)
    this.silentSince.set(runId, since)
    if (now - since < LISTEN_TIMEOUT_MS) return undefined
    const reason = owner ? `${describeOwner(owner, rows)} does` : 'no program does'
    return `The instance is ready but does not listen on port ${port}: ${reason}. Compare run.port with the server’s own settings.`
  }
}
