import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestCluster } from '../support/platform/cluster'
import { createEnabled, overviewOf, signUpByCalls } from '../support/browser/productCalls'
import { runOnKwok, type ProductOnKwok } from '../support/browser/productOnKwok'
import { percentile } from './figures/percentile'

/** The built product with 1,000 instances in 100 deployments on 20 faked nodes (KWOK). */
const DEPLOYMENTS = 100
const INSTANCES = 10
const STEADY_SECONDS = Number(process.env.BENCH_SECONDS ?? 60)

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

async function measure(kwok: ProductOnKwok): Promise<void> {
  const passes: number[] = []
  const product = await kwok.start((text) => {
    for (const [, ms] of text.matchAll(/"ms":(\d+),"msg":"the manager has checked the instances"/g))
      passes.push(Number(ms))
  })
  const memory = (name: string) => {
    const status = readFileSync(`/proc/${product.pid()}/status`, 'utf8')
    return `${(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024).toFixed(0)} MiB`
  }
  const { call } = await signUpByCalls(product)
  console.log(`memory of the platform with nothing to do: ${memory('VmRSS')}`)
  const begunAt = performance.now()
  for (let at = 0; at < DEPLOYMENTS; at++)
    await createEnabled(call, `lobby-${at}`, 'scalable', `instances: { min: ${INSTANCES}, max: ${INSTANCES} }\n`)
  const running = async () =>
    (await overviewOf(call)).flatMap(({ instances }) => instances).filter(({ state }) => state === 'RUNNING').length
  while ((await running()) < DEPLOYMENTS * INSTANCES) await delay(1000)
  console.log(`${DEPLOYMENTS * INSTANCES} instances run after ${((performance.now() - begunAt) / 1000).toFixed(0)} s`)

  await delay(10_000)
  const before = await requestsOf(kwok.cluster)
  passes.length = 0
  const answers: number[] = []
  for (const end = performance.now() + STEADY_SECONDS * 1000; performance.now() < end; await delay(1000)) {
    const at = performance.now()
    await overviewOf(call)
    answers.push(performance.now() - at)
  }
  const after = await requestsOf(kwok.cluster)
  console.log(`overview's call: p50 ${percentile(answers, 50, 1)}, p99 ${percentile(answers, 99, 1)}`)
  console.log(
    `${passes.length} passes of the manager: p50 ${percentile(passes, 50, 1)}, p99 ${percentile(passes, 99, 1)}`,
  )
  console.log(`memory of the platform: ${memory('VmRSS')}, at most ${memory('VmHWM')}`)
  console.log(`requests to the API server in ${STEADY_SECONDS} s, those of the cluster's own parts included:`)
  for (const [key, count] of after)
    if (count > (before.get(key) ?? 0)) console.log(`  ${key}: ${count - (before.get(key) ?? 0)}`)
  const budgets: [string, string, number][] = [
    ['a pass of the manager takes (ms)', percentile(passes, 50), 1000],
    ["the overview's call takes (ms)", percentile(answers, 50), 50],
    ['the platform uses (MiB)', memory('VmRSS'), 300],
  ]
  const missed = budgets.filter(([, value, budget]) => parseFloat(value) > budget)
  if (missed.length > 0)
    throw new Error(missed.map(([what, value, budget]) => `${what} ${value}, over ${budget}`).join('; '))
}

runOnKwok(20, measure)
