import { createHash } from 'node:crypto'
import { GameDig } from 'gamedig'
import { z } from 'zod'
import type { Definition } from '../../contract/deployment'
import type { Runtime } from '../runtime/runtime'
import type { Db } from '../state/db'
import { listDeployments } from '../state/deployments'
import { listInstances } from '../state/instances'
import { storedDefinition } from './definitions'

const INTERVAL_MS = 5000
/** A server that does not answer within this has nobody to tell of. In milliseconds. */
const ANSWER_MS = 2000

export interface PlayerWatch {
  /** Player uuid to player name, as of the last answer; empty while there was none. */
  of(podName: string): Record<string, string>
  close(): Promise<void>
}

/** The port that an instance listens on: on one machine each of a deployment's instances has one of its own. */
export function portOf({ run }: Definition, slot: number): number | undefined {
  return run.port === undefined ? undefined : run.port + slot
}

/** Asks every running game server, again and again, who is playing: by the server list ping and the query protocol. */
export function watchPlayers(db: Db, runtime: Runtime, onChange: () => void): PlayerWatch {
  let known = new Map<string, Record<string, string>>()
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let busy: Promise<void> = Promise.resolve()

  async function ask(): Promise<void> {
    const servers = await runningServers(db, runtime)
    const answers = await Promise.all(servers.map(async ({ podName, host, port }) => [podName, await playersAt(host, port)] as const))
    const next = new Map(answers)
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
    of: (podName) => known.get(podName) ?? {},
    async close() {
      closed = true
      clearTimeout(timer)
      await busy
    },
  }
}

async function runningServers(db: Db, runtime: Runtime): Promise<{ podName: string; host: string; port: number }[]> {
  const [deployments, rows, runs] = await Promise.all([listDeployments(db), listInstances(db), runtime.list()])
  return rows.flatMap((row) => {
    const run = runs.find(({ podName, state }) => podName === row.pod_name && state === 'RUNNING')
    const deployment = deployments.find(({ name }) => name === row.deployment)
    if (!run || !deployment || deployment.type === 'process') return []
    const { definition } = storedDefinition(deployment.content)
    // What the definition says now may be another one than it was started with. A host of an older version does not tell.
    const port = run.port ?? (definition && portOf(definition, row.slot))
    return port === undefined ? [] : [{ podName: row.pod_name, host: run.ip, port }]
  })
}

/** A listed player; servers may send anything. */
const Listed = z.object({ name: z.string().regex(/^[\w .*-]{1,40}$/), raw: z.object({ id: z.uuid() }).optional().catch(undefined) })

async function playersAt(host: string, port: number): Promise<Record<string, string>> {
  try {
    const { players } = await GameDig.query({ type: 'minecraft', host, port, givenPortOnly: true, maxRetries: 1, socketTimeout: ANSWER_MS, attemptTimeout: 2 * ANSWER_MS })
    return Object.fromEntries(
      players.flatMap((player) => {
        const { data } = Listed.safeParse(player)
        return data ? [[data.raw?.id ?? offlineUuid(data.name), data.name]] : []
      }),
    )
  } catch {
    return {}
  }
}

/** The uuid that a server in offline mode gives a name (version 3 of RFC 9562 over "OfflinePlayer:<name>"). */
function offlineUuid(name: string): string {
  const bytes = createHash('md5').update(`OfflinePlayer:${name}`).digest()
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x30, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
