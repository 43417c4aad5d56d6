import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '../support/browser/startProduct'
import { createEnabled, NAMESPACE, overviewOf, prepareKwok, signUpByCalls } from '../support/browser/productOnKwok'

/**
 * Two replicas of the built product on faked nodes (KWOK). The one that manages is killed (-9) at random moments while
 * 100 instances are started and stopped at once: each wanted instance must run exactly once afterwards.
 */
const KILLS = Number(process.env.BENCH_KILLS ?? 50)
const DEPLOYMENTS = 10
const INSTANCES = 10
/** The longest time until another replica manages (decisions §15). */
const TAKEOVER_MS = 15_000
const SETTLE_MS = 120_000

interface Replica {
  product: Product
  /** When it became the manager, and when its latest pass ended. */
  tookOverAt: number
  passedAt: number
}

async function main(): Promise<void> {
  const kwok = await prepareKwok(5)
  try {
    const replicas: Replica[] = []
    const start = async (): Promise<Replica> => {
      const replica = { tookOverAt: 0, passedAt: 0 } as Replica
      replica.product = await kwok.start((text) => {
        if (text.includes('this platform manages the instances now')) replica.tookOverAt = performance.now()
        if (text.includes('the manager has checked the instances')) replica.passedAt = performance.now()
      })
      replicas.push(replica)
      return replica
    }
    const first = await start()
    const call = await signUpByCalls(first.product)
    for (let at = 0; at < DEPLOYMENTS; at++)
      await createEnabled(call, `lobby-${at}`, 'scalable', `instances: { min: ${INSTANCES}, max: ${INSTANCES} }\n`)
    await start()

    const manager = () => replicas.reduce((one, other) => (one.passedAt > other.passedAt ? one : other))
    const isEnabled = new Array<boolean>(DEPLOYMENTS).fill(true)
    const takeovers: number[] = []
    const passes: number[] = []
    let failures = 0
    for (let kill = 0; kill < KILLS; kill++) {
      // All instances at once are to be started or stopped.
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
      takeovers.push(standby.tookOverAt - killedAt)
      passes.push(standby.passedAt - killedAt)
      await start()

      const wanted = isEnabled.filter(Boolean).length * INSTANCES
      let problem = 'unknown'
      for (const end = performance.now() + SETTLE_MS; performance.now() < end && problem; await delay(500)) {
        const shown = (await overviewOf(call, url)).flatMap(({ instances }) => instances)
        const pods = JSON.parse(await kwok.cluster.kubectl('get', 'pods', '-n', NAMESPACE, '-o', 'json')) as {
          items: { metadata: { name: string; deletionTimestamp?: string }; status: { phase: string } }[]
        }
        const live = pods.items.filter(
          ({ metadata, status }) => !metadata.deletionTimestamp && status.phase === 'Running',
        )
        const running = shown.filter(({ state }) => state === 'RUNNING').map(({ podName }) => podName)
        const isSame = new Set([...running, ...live.map(({ metadata }) => metadata.name)]).size === wanted
        problem =
          shown.length === wanted && running.length === wanted && live.length === wanted && isSame
            ? ''
            : `${wanted} wanted, ${shown.length} shown, ${running.length} running, ${live.length} Pods: ${JSON.stringify(
                [
                  ...shown.filter(({ state }) => state !== 'RUNNING'),
                  ...pods.items.filter((pod) => !live.includes(pod)),
                ],
              ).slice(0, 3000)}`
      }
      if (problem) failures++
      console.log(
        `kill ${kill + 1}: another replica manages after ${takeovers.at(-1)?.toFixed(0)} ms, and has checked all instances after ${passes.at(-1)?.toFixed(0)} ms ${problem}`,
      )
    }
    for (const times of [takeovers, passes]) times.sort((one, other) => one - other)
    const at = (times: number[], share: number) => `${times[Math.floor((times.length - 1) * share)]?.toFixed(0)} ms`
    console.log(
      `${KILLS} kills: takeover p50 ${at(takeovers, 0.5)}, longest ${at(takeovers, 1)}; first pass p50 ${at(passes, 0.5)}, longest ${at(passes, 1)}; ${failures} rounds did not end as wanted`,
    )
    if (failures > 0 || (takeovers.at(-1) ?? 0) > TAKEOVER_MS) process.exitCode = 1
  } finally {
    await kwok.close()
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)
