import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { createPlatform } from '../../src/platform/createPlatform'
import { readSettings } from '../../src/platform/config'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embeddedPostgres'
import { insertDeployment } from '../../src/platform/state/deployments'
import type { Closers } from '../../src/platform/surroundings'
import { createNamespace, hasCluster, startCluster, type TestCluster } from '../support/platform/cluster'

/** The platform with 1,000 instances in 100 deployments on 20 faked nodes (KWOK). */
const DEPLOYMENTS = 100
const INSTANCES = 10
const NODES = 20
const NAMESPACE = 'network'
const STEADY_SECONDS = 60

/** Requests that the API server has answered, by verb and resource. */
async function requestsOf(cluster: TestCluster): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const line of (await cluster.kubectl('get', '--raw', '/metrics')).split('\n')) {
    const match = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line)
    const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(match?.[1] ?? '')?.[1] ?? ''
    if (!match || !['pods', 'services', 'nodes'].includes(label('resource'))) continue
    const key = [label('verb'), label('resource'), label('subresource')].filter(Boolean).join(' ')
    counts.set(key, (counts.get(key) ?? 0) + Number(match[2]))
  }
  return counts
}

const sorted = (times: number[]) => [...times].sort((one, other) => one - other)
const share = (times: number[], part: number) => sorted(times)[Math.floor((times.length - 1) * part)]?.toFixed(1)

async function main(): Promise<void> {
  if (!hasCluster) throw new Error('QUARTERDECK_TEST_CLUSTER names no folder with up.sh')
  const directory = mkdtempSync(join(tmpdir(), 'bench-'))
  const log = pino({ level: 'error' })
  const closers: Closers = []
  try {
    const cluster = await startCluster('--kwok', '--nodes', String(NODES))
    closers.push(() => cluster.stop())
    for (const name of ['postgres', 'share', 'data']) mkdirSync(join(directory, name))
    const server = await startEmbeddedPostgres(join(directory, 'postgres'), 'databases', log)
    closers.push(() => server.stop())
    await createNamespace(cluster, NAMESPACE, join(directory, 'share'))
    writeFileSync(join(directory, 'data/secret.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
    const settings = readSettings({
      KUBECONFIG: cluster.kubeconfig,
      QUARTERDECK_RUNTIME: 'kubernetes',
      QUARTERDECK_NAMESPACE: NAMESPACE,
      QUARTERDECK_IMAGE: 'any',
      QUARTERDECK_STATE_URL: server.adminUrl,
      QUARTERDECK_SQL_URL: server.adminUrl,
      QUARTERDECK_DATA_DIR: join(directory, 'data'),
      QUARTERDECK_SHARE_DIR: join(directory, 'share'),
      QUARTERDECK_SAMPLE: 'off',
    })
    const platform = await createPlatform(settings, { log, closers, onLost: () => undefined })
    const startedAt = performance.now()
    for (let at = 0; at < DEPLOYMENTS; at++) {
      const name = `lobby-${at}`
      await insertDeployment(platform.state.db, {
        name,
        type: 'scalable',
        enabled: true,
        content: `name: ${name}\ntype: scalable\ndataDirectory: /${name}\nrun: { command: [run], port: 25565 }\ninstances: { min: ${INSTANCES}, max: ${INSTANCES} }\n`,
      })
    }
    const isRunning = async () =>
      (await platform.runtime.list()).filter(({ state }) => state === 'RUNNING').length === DEPLOYMENTS * INSTANCES
    while (!(await isRunning())) await delay(500)
    console.log(
      `${DEPLOYMENTS * INSTANCES} instances run after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
    )

    await delay(10_000)
    const before = await requestsOf(cluster)
    const overview: number[] = []
    for (const end = performance.now() + STEADY_SECONDS * 1000; performance.now() < end; await delay(1000)) {
      const at = performance.now()
      for (const { name } of await platform.deployments.list()) await platform.deployments.instances(name)
      overview.push(performance.now() - at)
    }
    const after = await requestsOf(cluster)
    console.log(`instances of all deployments: p50 ${share(overview, 0.5)} ms, p99 ${share(overview, 0.99)} ms`)
    console.log(`memory of this process: ${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MiB`)
    const status = readFileSync('/proc/self/status', 'utf8')
    console.log(`at most: ${(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024).toFixed(0)} MiB`)
    console.log(`requests to the API server in ${STEADY_SECONDS} s, those of the cluster's own parts included:`)
    for (const [key, count] of after)
      if (count > (before.get(key) ?? 0)) console.log(`  ${key}: ${count - (before.get(key) ?? 0)}`)
  } finally {
    for (const close of closers.reverse()) await close()
    rmSync(directory, { recursive: true, force: true })
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)
