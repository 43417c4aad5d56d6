import { GameDig } from 'gamedig'
import type { Definition } from '../../contract/deployment'
import type { Runtime } from '../runtime/runtime'
import type { Db } from '../state/db'
import { listDeployments } from '../state/deployments'
import { listInstances } from '../state/instances'
import { storedDefinition } from './definitions'
import { serverListPing, type Players } from './serverListPing'

const INTERVAL_MS = 5000
/** A server that takes longer has not answered. */
const ANSWER_MS = 2000

export interface PlayerWatch {
  /** As of the last ping; undefined when it failed or none was made: then nothing is known, which is not the same as nobody. */
  of(podName: string): Players | undefined
  close(): Promise<void>
}

/** The port that an instance listens on: on one machine each of a deployment's instances has one of its own. */
export function portOf({ run }: Definition, slot: number): number | undefined {
  return run.port === undefined ? undefined : run.port + slot
}

/** Asks every game server, again and again, who is playing. */
export function watchPlayers(db: Db, runtime: Runtime, onChange: () => void): PlayerWatch {
  let known = new Map<string, Players>()
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let busy: Promise<void> = Promise.resolve()

  async function ask(): Promise<void> {
    const servers = await listServers(db, runtime)
    const answers = await Promise.all(servers.map(async ({ podName, host, port }) => ({ podName, players: await playersAt(host, port) })))
    const next = new Map(answers.flatMap(({ podName, players }) => (players ? [[podName, players] as const] : [])))
    const changed = JSON.stringify([...next].sort()) !== JSON.stringify([...known].sort())
    known = next
    if (changed) onChange()
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
    async close() {
      closed = true
      clearTimeout(timer)
      await busy
    },
  }
}

/** Game servers that may have players. A ready pattern that never matches keeps nobody from playing, so STARTING ones are asked too. */
async function listServers(db: Db, runtime: Runtime): Promise<{ podName: string; host: string; port: number }[]> {
  const [deployments, rows, runs] = await Promise.all([listDeployments(db), listInstances(db), runtime.list()])
  return rows.flatMap((row) => {
    const run = runs.find(({ podName, state }) => podName === row.pod_name && (state === 'RUNNING' || state === 'STARTING'))
    const deployment = deployments.find(({ name }) => name === row.deployment)
    if (!run || !deployment || deployment.type === 'process') return []
    const { definition } = storedDefinition(deployment.content)
    // The definition may have changed since the run was started. A host of an older version does not tell the port.
    const port = run.port ?? (definition && portOf(definition, row.slot))
    return port === undefined ? [] : [{ podName: row.pod_name, host: run.ip, port }]
  })
}

async function playersAt(host: string, port: number): Promise<Players | undefined> {
  return (await serverListPing(host, port, ANSWER_MS)) ?? bedrockPing(host, port)
}

/** Servers of the Bedrock edition do not know the server list ping of the Java edition; theirs tells no names. */
async function bedrockPing(host: string, port: number): Promise<Players | undefined> {
  try {
    const { numplayers } = await GameDig.query({ type: 'mbe', host, port, givenPortOnly: true, maxRetries: 1, socketTimeout: ANSWER_MS, attemptTimeout: ANSWER_MS })
    return Number.isSafeInteger(numplayers) && numplayers >= 0 ? { count: numplayers, names: {} } : undefined
  } catch {
    return undefined
  }
}
