import type { RuntimeInstance } from '../runtime/runtime'
import type { InstanceRow } from '../state/instances'
import type { Holder, Listening } from './listeningSockets'

/** How long an instance that is ready may take to listen on its port. In milliseconds. */
const LISTEN_MS = 30_000
/** How long what an ended run left behind may hold its port before that is told. In milliseconds. */
const LEFTOVER_MS = 10_000

type Row = Pick<InstanceRow, 'pod_name' | 'deployment'>

/** Whether an instance can have its port: yes, not yet, or no and who has it. */
export type PortAnswer = 'free' | 'soon' | { takenBy: string }

/**
 * Looks whether a port can be had by an instance that is to be started.
 * @param runs of all instances.
 */
export async function checkPort(
  port: number,
  row: Row,
  rows: Row[],
  runs: Iterable<RuntimeInstance>,
  listening: Listening | undefined,
  now: number,
): Promise<PortAnswer> {
  const all = [...runs]
  const holder = await listening?.holderOf(port)
  if (holder?.kind === 'instance' && holder.podName === row.pod_name) {
    const endedAt = all.find(({ podName }) => podName === row.pod_name)?.exit?.at ?? 0
    return Math.abs(now - endedAt) < LEFTOVER_MS
      ? 'soon'
      : { takenBy: 'a process that an earlier run of this instance left behind' }
  }
  if (holder) return { takenBy: describeHolder(holder, rows) }
  // Another instance may have been told the same port, and not listen yet.
  const rival = all.find(
    (run) => run.podName !== row.pod_name && run.port === port && mayListenSoon(run, listening, now),
  )
  return rival ? { takenBy: describeHolder({ kind: 'instance', podName: rival.podName }, rows) } : 'free'
}

function mayListenSoon({ state, startedAt }: RuntimeInstance, listening: Listening | undefined, now: number): boolean {
  if (state === 'EXITED') return false
  return state === 'STARTING' || !listening || Math.abs(now - startedAt) < LISTEN_MS
}

/** Who has a port, for people: `the deployment "lobby"`. */
export function describeHolder(holder: Holder, rows: Row[]): string {
  if (holder.kind === 'unknown') return 'another program'
  if (holder.kind === 'instance') {
    const row = rows.find(({ pod_name }) => pod_name === holder.podName)
    return row ? `the deployment "${row.deployment}" (${row.pod_name})` : 'an instance of another Quarterdeck'
  }
  return holder.pid === process.pid ? 'Quarterdeck itself' : `the program "${holder.name}" (process ${holder.pid})`
}

/** Watches whether instances that are ready listen on their ports. */
export class ListenWatch {
  /** Since when a run is ready and does not listen, by run. */
  private silentSince = new Map<string, number>()

  /** Forgets all other runs. */
  keepOnly(runIds: string[]): void {
    this.silentSince = new Map([...this.silentSince].filter(([runId]) => runIds.includes(runId)))
  }

  /** @returns what to warn of; undefined: all is well, or it has time left. */
  look(
    { podName, runId, state }: RuntimeInstance,
    port: number,
    holder: Holder | undefined,
    rows: Row[],
    now: number,
  ): string | undefined {
    const isOurs =
      holder !== undefined && (holder.kind === 'unknown' || (holder.kind === 'instance' && holder.podName === podName))
    if (isOurs || state !== 'RUNNING') {
      this.silentSince.delete(runId)
      return undefined
    }
    const since = Math.min(this.silentSince.get(runId) ?? now, now)
    this.silentSince.set(runId, since)
    if (now - since < LISTEN_MS) return undefined
    const reason = holder ? `${describeHolder(holder, rows)} does` : 'nobody does'
    return `The instance is ready but does not listen on port ${port}: ${reason}. Compare run.port with the server’s own settings.`
  }
}
