import { setTimeout as delay } from 'node:timers/promises'
import { createEnabled, overviewOf, signUpByCalls, type ProductCall } from '../support/browser/productCalls'
import { NAMESPACE, runOnKwok, type ProductOnKwok } from '../support/browser/productOnKwok'
import { podsOf } from '../support/platform/fakedNodes'
import type { Product } from '../support/browser/startProduct'
import { percentile } from './figures/percentile'

/**
 * Two replicas of the built product on faked nodes (KWOK). The one that manages is killed (-9) at random moments while
 * 100 instances are started and stopped at once: each wanted instance must run exactly once afterwards.
 */
const KILLS = Number(process.env.BENCH_KILLS ?? 50)
const DEPLOYMENTS = 10
const INSTANCES = 10
/** The longest time until another replica manages (decisions §15). */
const TAKEOVER_MS = 15_000
/** Time for all instances to reach their wanted state after a kill. */
const SETTLE_MS = 120_000

interface Replica {
  product: Product
  /** When it became the manager, and when its latest pass ended. */
  tookOverAt: number
  passedAt: number
}

async function startReplica(kwok: ProductOnKwok): Promise<Replica> {
  const replica = { tookOverAt: 0, passedAt: 0 } as Replica
  replica.product = await kwok.start((text) => {
    if (text.includes('this platform manages the instances now')) replica.tookOverAt = performance.now()
    if (text.includes('the manager has checked the instances')) replica.passedAt = performance.now()
  })
  return replica
}

/**
 * Compares the instances that a replica shows with the Pods. @returns what is wrong; empty if each wanted one runs once
 */
async function problemWith(kwok: ProductOnKwok, call: ProductCall, url: string, wanted: number): Promise<string> {
  const shown = (await overviewOf(call, url)).flatMap(({ instances }) => instances)
  const running = shown.filter(({ state }) => state === 'RUNNING')
  const pods = await podsOf(kwok.cluster, NAMESPACE)
  const live = pods.filter(({ metadata, status }) => !metadata.deletionTimestamp && status.phase === 'Running')
  const names = new Set([...running.map(({ podName }) => podName), ...live.map(({ metadata }) => metadata.name)])
  if ([shown.length, running.length, live.length, names.size].every((count) => count === wanted)) return ''
  const others = [...shown.filter(({ state }) => state !== 'RUNNING'), ...pods.filter((pod) => !live.includes(pod))]
  return `${wanted} wanted, ${shown.length} shown, ${running.length} running, ${live.length} Pods: ${JSON.stringify(others).slice(0, 3000)}`
}

async function measure(kwok: ProductOnKwok): Promise<void> {
  const replicas = [await startReplica(kwok)]
  const { call } = await signUpByCalls(replicas[0]!.product)
  for (let at = 0; at < DEPLOYMENTS; at++)
    await createEnabled(call, `lobby-${at}`, 'scalable', `instances: { min: ${INSTANCES}, max: ${INSTANCES} }\n`)
  replicas.push(await startReplica(kwok))

  const manager = () => replicas.reduce((one, other) => (one.passedAt > other.passedAt ? one : other))
  const isEnabled = new Array<boolean>(DEPLOYMENTS).fill(true)
  /** Times from a kill until another replica is the manager, and until its first pass has ended. */
  const takeovers: number[] = []
  const passes: number[] = []
  let failures = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const killed = manager()
    const standby = replicas.find((replica) => replica !== killed) ?? killed
    const { url } = standby.product
    const change = Promise.all(
      isEnabled.map(async (enabled, at) => {
        await call('POST', `deployments/lobby-${at}/toggle`, { enabled: !enabled }, url)
        isEnabled[at] = !enabled
      }),
    )
    await delay(Math.random() * 3000)
    const killedAt = performance.now()
    await killed.product.kill()
    replicas.splice(replicas.indexOf(killed), 1)
    await change
    while (standby.passedAt < killedAt && performance.now() - killedAt < 2 * TAKEOVER_MS) await delay(50)
    const takeover = standby.tookOverAt - killedAt
    const pass = standby.passedAt - killedAt
    takeovers.push(takeover)
    passes.push(pass)
    replicas.push(await startReplica(kwok))

    const wanted = isEnabled.filter(Boolean).length * INSTANCES
    let problem = 'unknown'
    for (const end = performance.now() + SETTLE_MS; performance.now() < end && problem; await delay(500))
      problem = await problemWith(kwok, call, url, wanted)
    if (problem) failures++
    console.log(
      `kill ${kill + 1}: another replica manages after ${takeover.toFixed(0)} ms, and has checked all instances after ${pass.toFixed(0)} ms ${problem}`,
    )
  }
  const inWords = (times: number[]) => `p50 ${percentile(times, 50)}, longest ${percentile(times, 100)}`
  console.log(
    `${KILLS} kills: takeover ${inWords(takeovers)}; first pass ${inWords(passes)}; ${failures} rounds did not end as wanted`,
  )
  if (failures > 0 || Math.max(...takeovers) > TAKEOVER_MS) process.exitCode = 1
}

runOnKwok(5, measure)
