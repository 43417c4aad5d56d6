import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { ConsoleFrame } from '../../src/contract/sockets/consoleChannel'
import { signUpByCalls, type Overview } from '../support/browser/productCalls'
import { startProduct } from '../support/browser/startProduct'
import { percentile } from './figures/percentile'

/**
 * The console channel under a process that prints as fast as it can, with 50 viewers and one that never reads.
 * Every line carries the time it was printed, which gives its delay to a viewer.
 */
const LINES = 200_000
/** The first round is cold, because the platform has just started. */
const ROUNDS = 4
const VIEWERS = 50
const RATE = 5000
const SECONDS = 10

const PRINTER = `
const stamp = () => Math.round(performance.timeOrigin + performance.now())
const line = (n) => '\\u001b[32m' + stamp() + '\\u001b[0m ' + String(n).padStart(8, '0') + ' ' + 'x'.repeat(48)
require('node:readline').createInterface({ input: process.stdin }).on('line', async (text) => {
  const [word, count, rate] = text.split(' ')
  if (word === 'flood') {
    for (let n = 1; n <= Number(count); ) {
      let chunk = ''
      for (let i = 0; i < 500 && n <= Number(count); i++, n++) chunk += line(n) + '\\n'
      if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once('drain', resolve))
    }
    console.log('done')
  }
  if (word === 'rate') {
    let n = 0
    const timer = setInterval(() => {
      let chunk = ''
      for (let i = 0; i < Number(rate) / 100; i++) chunk += line(++n) + '\\n'
      process.stdout.write(chunk)
      if (n >= Number(count)) { clearInterval(timer); console.log('done') }
    }, 10)
  }
})
console.log('Ready')`

/** Stores frames with their arrival time and parses them later, so that parsing does not affect the measurement. */
class Viewer {
  lines = 0
  skipped = 0
  isDone = false
  readonly delays: number[] = []
  private readonly frames: [at: number, data: Buffer][] = []

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const frame = data as Buffer
      this.frames.push([performance.timeOrigin + performance.now(), frame])
      this.isDone ||= frame.includes('done', Math.max(0, frame.length - 100))
    })
  }

  static async open(url: string, token: string): Promise<Viewer> {
    const socket = new WebSocket(url, { headers: { cookie: `token=${token}` } })
    const viewer = new Viewer(socket)
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    return viewer
  }

  reset(): void {
    Object.assign(this, { lines: 0, skipped: 0, isDone: false })
    this.delays.length = 0
    this.frames.length = 0
  }

  read(): void {
    for (const [now, data] of this.frames) this.readFrame(now, data.toString())
  }

  private readFrame(now: number, text: string): void {
    for (const line of (JSON.parse(text) as ConsoleFrame).content.split('\n')) {
      const printed = /^.\[32m(\d+)/.exec(line)?.[1]
      if (printed) {
        this.lines += 1
        this.delays.push(now - Number(printed))
      } else this.skipped += Number(/^\[System\] (\d+) lines? skipped/.exec(line)?.[1] ?? 0)
    }
  }
}

async function done(viewers: Viewer[]): Promise<void> {
  while (!viewers.every(({ isDone }) => isDone)) await delay(10)
}

function read(viewers: Viewer[]): void {
  for (const viewer of viewers) viewer.read()
}

async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' })
  try {
    const { call, token } = await signUpByCalls(product)
    await call('POST', 'deployments', { name: 'flood', type: 'process' })
    const content = `name: flood\ntype: process\ndataDirectory: /flood\nrun: { command: ["node", "-e", ${JSON.stringify(PRINTER)}] }\nready: Ready\nstop: { timeoutSeconds: 1 }\n`
    await call('PATCH', 'deployments/flood', { content })
    await call('POST', 'deployments/flood/toggle', { enabled: true })
    let podName: string | undefined
    while (podName === undefined) {
      await delay(200)
      const { instances } = await call<Pick<Overview[number], 'instances'>>('GET', 'deployments/flood/instances')
      podName = instances.find(({ state }) => state === 'RUNNING')?.podName
    }
    const open = () => Viewer.open(`${product.url.replace('http', 'ws')}/api/logs/flood/${podName}`, token)

    const one = await open()
    for (let round = 1; round <= ROUNDS; round++) {
      one.reset()
      const begun = performance.now()
      one.socket.send(JSON.stringify({ type: 'command', command: `flood ${LINES}` }))
      await done([one])
      const seconds = (performance.now() - begun) / 1000
      read([one])
      console.log(
        `${LINES} lines flat out to one viewer, round ${round}: ${seconds.toFixed(2)} s, ${LINES - one.lines} lost, ${one.skipped} reported as skipped, delay p50 ${percentile(one.delays, 50)}, p99 ${percentile(one.delays, 99)}`,
      )
      await delay(1000)
    }

    const many = await Promise.all(Array.from({ length: VIEWERS }, open))
    await delay(500)
    for (const viewer of [one, ...many]) viewer.reset()
    one.socket.send(JSON.stringify({ type: 'command', command: `rate ${RATE * SECONDS} ${RATE}` }))
    await done(many)
    read(many)
    const delays = many.flatMap((viewer) => viewer.delays)
    console.log(
      `${VIEWERS} viewers at ${RATE} lines a second for ${SECONDS} s: ${many.reduce((sum, { lines }) => sum + RATE * SECONDS - lines, 0)} lost, delay p50 ${percentile(delays, 50)}, p99 ${percentile(delays, 99)}`,
    )

    const [idle, ...rest] = many
    for (const { socket } of rest) socket.terminate()
    idle!.socket.pause()
    one.reset()
    one.socket.send(JSON.stringify({ type: 'command', command: `flood ${LINES}` }))
    await done([one])
    read([one])
    console.log(
      `with one viewer that never reads: ${LINES - one.lines} lost to one that reads, delay p99 ${percentile(one.delays, 99)}`,
    )
    for (const { socket } of [one, idle!]) socket.terminate()
  } finally {
    await product.close()
  }
}

void main()
