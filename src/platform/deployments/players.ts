import { GameDig } from 'gamedig'
import type { Definition } from '../../contract/deployment'
import type { Runtime, RuntimeInstance } from '../runtime/runtime'
import type { Db } from '../state/db'
import { listDeployments } from '../state/deployments'
import { listInstances, type InstanceRow } from '../state/instances'
import { storedDefinition } from './definitions'
import type { Listening } from './listeningSockets'
import { ListenWatch } from './portChecks'
import { serverListPing, type Players } from './serverListPing'

const INTERVAL_MS = 5000
/** A server that takes longer has not answered. */
const ANSWER_MS = 2000

export interface PlayerWatch {
  /** As of the last ping; undefined when it failed or none was made: then nothing is known, which is not the same as nobody. */
  of(podName: string): Players | undefined
  /** That an instance which is ready does not listen on its port, for people. */
  portWarning(podName: string): string | undefined
  close(): Promise<void>
}

interface WatchParts {
  db: Db
  runtime: Runtime
  listening: () => Promise<Listening | undefined>
  /** Called when the players of an instance, or whether it is warned of, have changed. */
  onChange: () => void
  now: () => number
}

interface Server {
  row: InstanceRow
  run: RuntimeInstance
  port: number
  hasPlayers: boolean
}

/** The port that an instance listens on: on one machine each of a deployment's instances has one of its own. */
export function portOf({ run }: Definition, slot: number): number | undefined {
  return run.port === undefined ? undefined : run.port + slot
}

/** Asks every game server, again and again, who is playing, and looks whether it listens where it is told to. */
export function watchPlayers({ db, runtime, listening, onChange, now }: WatchParts): PlayerWatch {
  const listenWatch = new ListenWatch()
  let known = new Map<string, Players>()
  let warnings = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let busy: Promise<void> = Promise.resolve()

  async function ask(): Promise<void> {
    const [{ servers, rows }, table] = await Promise.all([listServers(db, runtime), listening()])
    listenWatch.keepOnly(servers.map(({ run }) => run.runId))
    const answers = await Promise.all(
      servers.map(async ({ row: { pod_name: podName }, run, port, hasPlayers }) => {
        const local = isLoopback(run.ip) ? table : undefined
        const holder = await local?.holderOf(port)
        // The players of another program are not ours.
        const isOurs =
          !local || holder?.kind === 'unknown' || (holder?.kind === 'instance' && holder.podName === podName)
        return {
          podName,
          players: isOurs && hasPlayers ? await playersAt(run.ip, port) : undefined,
          warning: local && listenWatch.look(run, port, holder, rows, now()),
        }
      }),
    )
    const before = JSON.stringify([[...known], [...warnings]])
    known = new Map(answers.flatMap(({ podName, players }) => (players ? [[podName, players] as const] : [])))
    warnings = new Map(answers.flatMap(({ podName, warning }) => (warning ? [[podName, warning] as const] : [])))
    if (JSON.stringify([[...known], [...warnings]]) !== before) onChange()
  }

  function askAndWait(): void {
    busy = ask()
      // The state may be away for a moment; what was known stays.
      .catch(() => undefined)
      .finally(() => {
        if (!closed) timer = setTimeout(askAndWait, INTERVAL_MS)
      })
  }
  askAndWait()

  return {
    of: (podName) => known.get(podName),
    portWarning: (podName) => warnings.get(podName),
    async close() {
      closed = true
      clearTimeout(timer)
      await busy
    },
  }
}

/** What may listen on a port. A ready pattern that never matches keeps nobody from playing, so STARTING ones count too. */
async function listServers(db: Db, runtime: Runtime): Promise<{ servers: Server[]; rows: InstanceRow[] }> {
  const [deployments, rows, runs] = await Promise.all([listDeployments(db), listInstances(db), runtime.list()])
  const servers = rows.flatMap((row) => {
    const run = runs.find(
      ({ podName, state }) => podName === row.pod_name && (state === 'RUNNING' || state === 'STARTING'),
    )
    const deployment = deployments.find(({ name }) => name === row.deployment)
    if (!run || !deployment) return []
    const { definition } = storedDefinition(deployment.content)
    // The definition may have changed since the run was started. A host of an older version does not tell the port.
    const port = run.port ?? (definition && portOf(definition, row.slot))
    return port === undefined ? [] : [{ row, run, port, hasPlayers: deployment.type !== 'process' }]
  })
  return { servers, rows }
}

const isLoopback = (ip: string) => ip.startsWith('127.') || ip === '::1'

async function playersAt(host: string, port: number): Promise<Players | undefined> {
  return (await serverListPing(host, port, ANSWER_MS)) ?? bedrockPing(host, port)
}

/** Servers of the Bedrock edition do not know the server list ping of the Java edition; theirs tells no names. */
async function bedrockPing(host: string, port: number): Promise<Players | undefined> {
  try {
    const { numplayers } = await GameDig.query({
      type: 'mbe',
      host,
      port,
      givenPortOnly: true,
      maxRetries: 1,
      socketTimeout: ANSWER_MS,
      attemptTimeout: ANSWER_MS,
    })
    return Number.isSafeInteger(numplayers) && numplayers >= 0 ? { count: numplayers, names: {} } : undefined
  } catch {
    return undefined
  }
}
