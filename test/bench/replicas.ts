import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embeddedPostgres'
import type { Closers } from '../../src/platform/surroundings'
import { hasCluster } from '../support/platform/cluster'
import { createPanelClient, type PanelClient } from '../support/platform/inCluster/panelClient'
import { startInCluster, type PlatformInCluster } from '../support/platform/inCluster/platformInCluster'
import { until } from '../support/platform/until'
import { compilePrograms } from '../support/programs'

/** Kills of the manager's Pod, at random times, while instances restart and Pods are deleted. */
const KILLS = Number(process.env.BENCH_KILLS ?? 10)
const SINGLE = ['one', 'two', 'three', 'four']
const LOBBIES = 4
const TAKEOVER_MS = 15_000
/** Maximum time between the beginning of a disturbance and the kill. */
const RANDOM_MS = 3000

const PROGRAM = 'echo Ready; while read -r line; do echo "heard $line"; done'

const definitionOf = (name: string, isScalable: boolean) => `name: ${name}
type: ${isScalable ? 'scalable' : 'process'}
dataDirectory: /${name}
run: { command: [sh, -c, ${JSON.stringify(PROGRAM)}] }
ready: '^Ready$'
stop: { timeoutSeconds: 1 }
${isScalable ? `instances: { min: ${LOBBIES}, max: ${LOBBIES} }` : ''}
`

/** The Pods of instances that have not ended, as `deployment`. */
async function runningPods(platform: PlatformInCluster): Promise<string[]> {
  const columns = 'jsonpath={range .items[*]}{.metadata.labels.app\\.kubernetes\\.io/name} {.status.phase}{"\\n"}{end}'
  const text = await platform.kubectl('get', 'pods', '-l', 'app.kubernetes.io/managed-by=quarterdeck', '-o', columns)
  return text
    .split('\n')
    .filter((line) => / (?:Pending|Running)$/.test(line))
    .map((line) => line.split(' ')[0] ?? '')
}

const countOf = (pods: string[], name: string) => pods.filter((deployment) => deployment === name).length
const wantedOf = (name: string) => (name === 'lobby' ? LOBBIES : 1)

/** Polls the Pods. @returns a function that stops it and returns the deployments that had too many at once */
function watchForExcess(platform: PlatformInCluster): () => Promise<string[]> {
  const excess: string[] = []
  let isOver = false
  const polling = (async () => {
    while (!isOver) {
      const pods = await runningPods(platform).catch(() => [])
      for (const name of new Set(pods))
        if (countOf(pods, name) > wantedOf(name)) excess.push(`${countOf(pods, name)} of ${name}`)
    }
  })()
  return async () => {
    isOver = true
    await polling
    return excess
  }
}

/**
 * Restarts a deployment, or deletes the Pod of an instance: unlike crashes, neither is ever held back by the crash
 * guard.
 */
async function disturb(platform: PlatformInCluster, panel: PanelClient, name: string): Promise<void> {
  if (Math.random() < 0.5) {
    await panel.send('POST', `/api/deployments/${name}/restart`, {})
    return
  }
  const [instance] = await panel.instancesOf(name)
  if (instance) await platform.kubectl('delete', 'pod', instance.podName, '--wait=false')
}

/** @returns milliseconds from the kill until another replica is the manager, and until all instances run */
async function killManager(platform: PlatformInCluster, panel: PanelClient): Promise<[number, number]> {
  await platform.ready()
  const manager = await until(() => platform.manager())
  const names = [...SINGLE, 'lobby']
  disturb(platform, panel, names[Math.floor(Math.random() * names.length)] ?? 'lobby').catch(() => undefined)
  await delay(Math.random() * RANDOM_MS)
  const killedAt = performance.now()
  await platform.kubectl('delete', 'pod', manager?.name ?? '', '--grace-period=0', '--force')
  await until(
    () => platform.manager(),
    (other) => other !== undefined && other.name !== manager?.name,
  )
  const takenOver = performance.now() - killedAt
  const wanted = names.map((name) => Array<string>(wantedOf(name)).fill(`${name} RUNNING`)).flat()
  await until(
    async () => {
      const lists = await Promise.all(names.map((name) => panel.instancesOf(name).catch(() => [])))
      return lists.flatMap((instances, at) => instances.map(({ state }) => `${names[at]} ${state}`))
    },
    (states) => states.join() === wanted.join(),
    120,
  )
  return [takenOver, performance.now() - killedAt]
}

async function main(): Promise<void> {
  if (!hasCluster) throw new Error('QUARTERDECK_TEST_CLUSTER names no folder with up.sh')
  compilePrograms()
  const directory = mkdtempSync(join(tmpdir(), 'bench-'))
  mkdirSync(join(directory, 'postgres'))
  const closers: Closers = []
  try {
    const server = await startEmbeddedPostgres(join(directory, 'postgres'), 'databases', pino({ level: 'error' }))
    closers.push(() => server.stop())
    const url = new URL(server.adminUrl)
    url.search = ''
    const platform = await startInCluster(url.href)
    closers.push(() => platform.stop())
    await platform.ready()
    const panel = createPanelClient(platform.address)
    await panel.registerFirst(await platform.kubectl('logs', 'deployment/quarterdeck'))
    for (const name of [...SINGLE, 'lobby']) {
      const isScalable = name === 'lobby'
      await panel.deploy(name, isScalable ? 'scalable' : 'process', definitionOf(name, isScalable))
    }
    const endWatch = watchForExcess(platform)
    const takeovers: number[] = []
    for (let at = 1; at <= KILLS; at++) {
      const [takeover, whole] = await killManager(platform, panel)
      takeovers.push(takeover)
      console.log(
        `kill ${at}: another manager after ${(takeover / 1000).toFixed(1)} s, all instances run after ${(whole / 1000).toFixed(1)} s`,
      )
    }
    const excess = await endWatch()
    const slowest = Math.max(...takeovers)
    console.log(
      `${KILLS} kills: slowest takeover ${(slowest / 1000).toFixed(1)} s; too many at once: ${excess.join(', ') || 'never'}`,
    )
    if (slowest > TAKEOVER_MS || excess.length > 0) process.exitCode = 1
  } finally {
    for (const close of closers.reverse()) await close()
    rmSync(directory, { recursive: true, force: true })
  }
}

void main()
