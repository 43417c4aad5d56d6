import { spawn } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'node:http'
import { WebSocket } from 'ws'
import { signUpByCalls, type ProductCall } from '../support/browser/productCalls'
import { startProduct, type Product } from '../support/browser/startProduct'
import { cpuSeconds, memoryOf } from './figures/processUse'
import { report } from './figures/report'
import { root } from './figures/root'

/**
 * Fifty operators with 22 deployments: each has a console open and asks every 3 s, by a clock that does not wait for
 * answers. First with the calls of product.md alone (2 + 22), then with the call of our console, then again with those
 * of product.md while other programs keep both cores busy.
 */
const OPERATORS = 50
const DEPLOYMENTS = 22
const POLL_MS = 3000
const SECONDS = Number(process.env.BENCH_SECONDS ?? 15)
const BUSY_PROGRAMS = 2

interface Session {
  product: Product
  token: string
  names: string[]
}

async function createDeployments(call: ProductCall): Promise<{ names: string[]; consoles: string[] }> {
  const names = Array.from({ length: DEPLOYMENTS }, (_name, number) => `bench-${number}`)
  for (const name of names) {
    await call('POST', 'deployments', { name, type: 'process' })
    const content = `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun: { command: [cat] }\nstop: { timeoutSeconds: 1 }\n`
    await call('PATCH', `deployments/${name}`, { content })
    await call('POST', `deployments/${name}/toggle`, { enabled: true })
  }
  for (;;) {
    const { deployments } = await call<{
      deployments: { instances: { deployment: string; podName: string; state: string }[] }[]
    }>('GET', 'deployments?instances=true')
    const running = deployments.flatMap(({ instances }) => instances).filter(({ state }) => state === 'RUNNING')
    if (running.length === DEPLOYMENTS)
      return { names, consoles: running.map(({ deployment, podName }) => `${deployment}/${podName}`) }
    await delay(200)
  }
}

/** Measures a call in milliseconds. @throws Error if it fails */
function timeOf(agent: Agent, url: string, headers: Record<string, string>): Promise<{ ms: number; etag?: string }> {
  return new Promise((resolve, reject) => {
    const begun = performance.now()
    request(url, { agent, headers }, (answer) => {
      const { etag } = answer.headers
      answer.resume()
      answer.on('error', reject)
      answer.on('end', () =>
        answer.statusCode === 200 || answer.statusCode === 304
          ? resolve({ ms: performance.now() - begun, ...(etag !== undefined && { etag }) })
          : reject(new Error(`status ${answer.statusCode}`)),
      )
    })
      .on('error', reject)
      .end()
  })
}

interface Polled {
  calls: number
  failed: number
  /** Of the calls that did not fail, in milliseconds. */
  p95: number
  /** Of a core. */
  cpu: number
}

/** @param pathsOf the calls of one poll, below `/api/`; the overview's is asked with the ETag that the operator has */
async function poll({ product, token }: Session, pathsOf: () => string[]): Promise<Polled> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  let failed = 0
  const pending: Promise<unknown>[] = []
  const [cpuBefore, begun] = [cpuSeconds(product.pid()), performance.now()]
  const operator = async (number: number) => {
    const etags = new Map<string, string>()
    // Spread over the time between two polls.
    await delay((number * POLL_MS) / OPERATORS)
    for (let due = performance.now(); due - begun < SECONDS * 1000; due += POLL_MS) {
      await delay(Math.max(0, due - performance.now()))
      for (const path of pathsOf()) {
        const known = etags.get(path)
        const headers = { authorization: `Bearer ${token}`, ...(known && { 'if-none-match': known }) }
        const call = timeOf(agent, `${product.url}/api/${path}`, headers).then(
          ({ ms, etag }) => {
            times.push(ms)
            if (etag !== undefined) etags.set(path, etag)
          },
          () => (failed += 1),
        )
        pending.push(call)
      }
    }
  }
  await Promise.all(Array.from({ length: OPERATORS }, (_operator, number) => operator(number)))
  await Promise.all(pending)
  const seconds = (performance.now() - begun) / 1000
  agent.destroy()
  const sorted = times.toSorted((one, other) => one - other)
  return {
    calls: times.length + failed,
    failed,
    p95: sorted[Math.floor((sorted.length - 1) * 0.95)] ?? NaN,
    cpu: (cpuSeconds(product.pid()) - cpuBefore) / seconds,
  }
}

async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off', QUARTERDECK_ISOLATION: 'off' }, undefined, root)
  const sockets: WebSocket[] = []
  const busy: ReturnType<typeof spawn>[] = []
  try {
    const { call, token } = await signUpByCalls(product)
    const { names, consoles } = await createDeployments(call)
    const session = { product, token, names }
    for (let number = 0; number < OPERATORS; number += 1) {
      const path = `api/logs/${consoles[number % DEPLOYMENTS]}`
      const socket = new WebSocket(`${product.url.replace('http', 'ws')}/${path}`, {
        headers: { cookie: `token=${token}`, origin: product.url },
      })
      sockets.push(socket)
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    }
    const everyCall = () => [
      'network/getManagerTimestamp',
      'deployments',
      ...names.map((name) => `deployments/${name}/instances`),
    ]
    const print = (what: string, { calls, failed, p95, cpu }: Polled, isBusy = false) => {
      report({ what: `50 operators, ${what}: failed`, value: (100 * failed) / calls, unit: '%', budget: 0 })
      report({ what: `50 operators, ${what}: p95`, value: p95, unit: 'ms' })
      const budget = isBusy ? {} : { budget: 10 }
      report({ what: `50 operators, ${what}: CPU`, value: 100 * cpu, unit: '% of a core', ...budget })
    }
    await poll(session, everyCall)
    print('24 calls every 3 s', await poll(session, everyCall))
    print('the console’s call every 3 s', await poll(session, () => ['deployments?instances=true']))
    const before = memoryOf(product.pid())
    for (let number = 0; number < BUSY_PROGRAMS; number += 1)
      busy.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
    print('24 calls, both cores busy', await poll(session, everyCall), true)
    for (const program of busy) program.kill('SIGKILL')
    // What was allocated is given back when nothing happens.
    await delay(10_000)
    const kept = memoryOf(product.pid()) - before
    report({ what: '50 operators, both cores busy: memory kept', value: kept, unit: 'MB', budget: 50 })
  } finally {
    for (const program of busy) program.kill('SIGKILL')
    for (const socket of sockets) socket.terminate()
    await product.stop()
    await product.close()
  }
}

void main()
