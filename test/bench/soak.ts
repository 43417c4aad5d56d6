import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { signUpByCalls, type ProductCall } from '../support/browser/productCalls'
import { startProduct } from '../support/browser/startProduct'

/** security 55: memory and descriptors of the platform under steady use, sampled every minute, must not grow. */
const MINUTES = Number(process.env.BENCH_MINUTES ?? 10)
const ROUND_MS = 100
const PRINTER = "console.log('Ready'); setInterval(() => console.log('x'.repeat(80)), 5)"

async function sampleOf(pid: number): Promise<{ memory: number; descriptors: number; threads: number }> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
  return {
    memory: field('VmRSS') / 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: field('Threads'),
  }
}

/** A short visit of a user: reads lists, opens a console, sends a command, leaves. */
async function round(url: string, token: string, call: ProductCall, path: string): Promise<void> {
  await Promise.all([
    call('GET', 'deployments'),
    call('GET', 'network/getManagerTimestamp'),
    call('GET', 'deployments/soak/instances'),
  ])
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, {
    headers: { cookie: `token=${token}`, origin: url },
  })
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))
  socket.send(JSON.stringify({ type: 'command', command: 'hello' }))
  socket.terminate()
}

async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' })
  try {
    const { url, dataDir } = product
    const { call, token } = await signUpByCalls(product)
    await call('POST', 'deployments', { name: 'soak', type: 'process' })
    await call('PATCH', 'deployments/soak', {
      content: `name: soak\ntype: process\ndataDirectory: /soak\nrun: { command: ["node", "-e", ${JSON.stringify(PRINTER)}] }\nready: Ready\nstop: { timeoutSeconds: 1 }\n`,
    })
    await call('POST', 'deployments/soak/toggle', { enabled: true })
    let podName = ''
    while (podName === '') {
      await delay(200)
      const { instances } = await call<{ instances: { podName: string; state: string }[] }>(
        'GET',
        'deployments/soak/instances',
      )
      podName = instances.find(({ state }) => state === 'RUNNING')?.podName ?? ''
    }

    const pid = Number(/\d+/.exec(readFileSync(join(dataDir, 'platform.lock'), 'utf8'))?.[0])
    const report = async (minute: number, rounds: number) => {
      const { memory, descriptors, threads } = await sampleOf(pid)
      console.log(
        `minute ${minute}: ${rounds} rounds, ${memory.toFixed(0)} MiB, ${descriptors} descriptors, ${threads} threads`,
      )
    }
    let rounds = 0
    for (let minute = 0; minute < MINUTES; minute++) {
      await report(minute, rounds)
      for (const end = Date.now() + 60_000; Date.now() < end; await delay(ROUND_MS), rounds++)
        await round(url, token, call, `/api/logs/soak/${podName}`)
    }
    await report(MINUTES, rounds)
  } finally {
    await product.stop()
    await product.close()
  }
}

void main()
