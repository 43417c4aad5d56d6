import type { ConsoleLine } from '../../../src/platform/runtime/runtime'
import { ConsoleFeed, type Outlet } from '../../../src/platform/sockets/consoleFeed'
import { until } from '../../support/platform/until'

type Hear = (lines: ConsoleLine[]) => void

/** A feed whose lines the test prints. */
async function feedOf(): Promise<{ feed: ConsoleFeed; print: (count: number, content?: string) => void }> {
  let hear: Hear = () => undefined
  const follow = async (_podName: string, _since: number, listener: Hear) => {
    hear = listener
    return () => undefined
  }
  const feed = new ConsoleFeed({ follow }, 'pod')
  await feed.ready
  let seq = 0
  const print = (count: number, content = 'x'.repeat(80)) =>
    hear(Array.from({ length: count }, () => ({ seq: ++seq, type: 'message', content })))
  return { feed, print }
}

/** A network that accepts nothing until `take`, or everything at once. */
class Network implements Outlet {
  readonly frames: string[] = []
  bufferedAmount = 0
  mostHeld = 0
  private waiting: (() => void)[] = []

  constructor(public isTaking: boolean) {}

  send(text: string, taken: () => void): void {
    this.frames.push(text)
    if (this.isTaking) return
    this.bufferedAmount += Buffer.byteLength(text)
    this.mostHeld = Math.max(this.mostHeld, this.bufferedAmount)
    this.waiting.push(taken)
  }

  take(): void {
    this.bufferedAmount = 0
    for (const taken of this.waiting.splice(0)) taken()
  }

  get numbers(): number[] {
    return this.frames.flatMap((frame) => {
      const { seq, content } = JSON.parse(frame) as { seq?: number; content: string }
      return seq === undefined ? [] : content.split('\n').map((_line, at) => seq + at)
    })
  }
}

test.each([
  ['ordinary', 'x'.repeat(80)],
  ['wide', '漢'.repeat(8192)],
  ['colourful', '\u001b[1m'.repeat(1000)],
])('at most 1 MiB is buffered for a viewer that never reads (%s lines)', async (_kind, content) => {
  const { feed, print } = await feedOf()
  const [idle, busy] = [new Network(false), new Network(true)]
  feed.attach(idle, undefined, 1000)
  feed.attach(busy, undefined, 1000)
  for (let round = 0; round < 200; round++) print(100, content)
  await until(() => busy.numbers.at(-1) === 20_000)
  expect(busy.numbers).toEqual(Array.from({ length: 20_000 }, (_line, at) => at + 1))
  expect(idle.mostHeld).toBeGreaterThan(400_000)
  expect(idle.mostHeld).toBeLessThan(2 ** 20)
  feed.close()
})

test('a viewer that resumes reading continues where it stopped, or gets the number of skipped lines', async () => {
  const { feed, print } = await feedOf()
  const network = new Network(false)
  feed.attach(network, undefined, 1000)
  for (let round = 0; round < 100; round++) print(100)
  for (let round = 0; round < 100; round++) network.take()
  expect(network.numbers).toEqual(Array.from({ length: 10_000 }, (_line, at) => at + 1))

  for (let round = 0; round < 500; round++) print(100)
  for (let round = 0; round < 500; round++) network.take()
  const skipped = network.frames
    .map((frame) => /"\[System\] (\d+) lines skipped"/.exec(frame)?.[1])
    .filter(Boolean)
    .map(Number)
  expect(skipped).toHaveLength(1)
  expect(network.numbers.at(-1)).toBe(60_000)
  expect(network.numbers.length + skipped[0]!).toBe(60_000)
  feed.close()
})

test('one skipped line is reported as one', async () => {
  const { feed, print } = await feedOf()
  print(20_001)
  const network = new Network(true)
  feed.attach(network, 1, 1000)
  expect(JSON.parse(network.frames[0]!)).toEqual({ type: 'system', content: '[System] 1 line skipped' })
  feed.close()
})

test('a history of maximum-length lines is limited to 4 MiB, in pieces that respect backpressure', async () => {
  const { feed, print } = await feedOf()
  for (let round = 0; round < 100; round++) print(100, 'x'.repeat(8192))
  const network = new Network(false)
  feed.attach(network, 1, 1000)
  await until(() => {
    network.take()
    return network.numbers.at(-1) === 10_000
  })
  expect(network.mostHeld).toBeLessThan(2 ** 20)
  expect(Math.max(...network.frames.map(({ length }) => length))).toBeLessThan(128 * 1024)
  expect(network.numbers.length * 8192).toBeLessThanOrEqual(4 * 2 ** 20)
  expect(network.numbers.length * 8192).toBeGreaterThan(3 * 2 ** 20)
  expect(network.frames[0]).toContain(`${10_000 - network.numbers.length} lines skipped`)
  feed.close()
})

test('security 136: viewers that open a long history one after another share its frames, until a line is added', async () => {
  const { feed, print } = await feedOf()
  for (let round = 0; round < 5; round++) print(100, 'x'.repeat(8192))
  const made = jest.spyOn(JSON, 'stringify')
  const networks = Array.from({ length: 50 }, () => new Network(false))
  for (const network of networks) feed.attach(network, undefined, 1000)
  await until(() => {
    for (const network of networks) network.take()
    return networks.every(({ numbers }) => numbers.at(-1) === 500)
  })
  expect(made).toHaveBeenCalledTimes(networks[0]!.frames.length)
  made.mockRestore()
  print(1)
  const later = new Network(true)
  feed.attach(later, undefined, 1000)
  expect(later.numbers.at(-1)).toBe(501)
  feed.close()
})

test('a few lines are joined in one frame, flushed after at most 50 ms', async () => {
  const { feed, print } = await feedOf()
  const network = new Network(true)
  feed.attach(network, undefined, 1000)
  print(1)
  await until(() => network.frames.length === 1)
  for (let line = 0; line < 5; line++) print(1)
  await until(() => network.numbers.length === 6)
  expect(network.frames).toHaveLength(2)
  feed.close()
})

test('lines are still sent after the clock was set back', async () => {
  const { feed, print } = await feedOf()
  const network = new Network(true)
  feed.attach(network, undefined, 1000)
  print(1)
  await until(() => network.frames.length === 1)
  const now = Date.now.bind(Date)
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
  try {
    print(1)
    await until(() => network.frames.length === 2, Boolean, 10)
  } finally {
    clock.mockRestore()
  }
  feed.close()
})
