import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import type { ConsoleStore } from '../../../../src/platform/runtime/kubernetes/console/consoleStore'
import { PodConsole, type ConsoleRun } from '../../../../src/platform/runtime/kubernetes/console/podConsole'
import type { LogOptions, LogRow } from '../../../../src/platform/runtime/kubernetes/console/podLog'
import { createConsoleStore } from '../../../../src/platform/state/deployments/consoles'
import { freshState, type FreshState } from '../../../support/platform/freshState'
import { until } from '../../../support/platform/until'

let state: FreshState
beforeAll(async () => {
  state = await freshState()
})
afterAll(() => state.close())

/** The log of a Pod as the kubelet keeps it. Readers get what it holds, and what is printed later. */
class PodLog {
  private readonly changes = new EventEmitter().setMaxListeners(0)
  rows: LogRow[] = []
  hasEnded = false
  /** Whether the Pod was removed with its log. */
  isGone = false
  /** Rows that a reader gets before its connection breaks. */
  breaksAfter = Infinity
  /** Rows that a reader gets before its connection ends as if that were all. */
  endsAfter = Infinity
  readers = 0
  /** Added to the times of rows, in seconds. */
  clockSkew = 0

  print(...texts: string[]): void {
    for (const text of texts) this.rows.push({ time: timeOf(this.rows.length, this.clockSkew), text })
    this.changes.emit('changed')
  }

  end(): void {
    this.hasEnded = true
    this.changes.emit('changed')
  }

  async *read({ sinceMs = -Infinity, tail = Infinity, follow, signal }: LogOptions): AsyncGenerator<LogRow[]> {
    this.readers += 1
    let at = Math.max(0, this.rows.length - tail)
    for (let sent = 0; ;) {
      const next = this.rows.slice(at, at + 100)
      const isRecent = ({ time }: LogRow) => Number(time) * 1000 >= sinceMs
      const rows = next.filter(isRecent).slice(0, Math.min(this.breaksAfter, this.endsAfter) - sent)
      if (rows.length > 0) yield rows
      at += next.length
      sent += rows.length
      if (sent >= this.breaksAfter) throw new Error('The connection broke')
      if (sent >= this.endsAfter) return
      if (next.length > 0) continue
      if (!follow || this.hasEnded) return
      await once(this.changes, 'changed', { signal })
    }
  }
}

/** Three rows have the same time, as rows that are printed at once may have. */
const timeOf = (index: number, skew = 0) =>
  `${String(1_800_000_000 + skew + Math.floor(index / 3)).padStart(12, '0')}.000000000`

let pods = 0

/** A console of one run, as one replica of the platform has it. */
function openConsole(
  podName: string,
  log: PodLog,
  closingLines: string[] = [],
  reader = 'this',
  store: ConsoleStore = createConsoleStore(state.db),
): PodConsole {
  const run = (): ConsoleRun => {
    const { hasEnded, isGone } = log
    return { runId: 'run-1', hasLog: !isGone, hasEnded, isLogGone: isGone, closingLines }
  }
  return new PodConsole({
    podName,
    store,
    reader,
    run,
    readLog: (options) => log.read(options),
    log: pino({ level: 'silent' }),
  })
}

const newPod = () => `console-${(pods += 1)}`
const textsOf = async (console: PodConsole) => (await console.history(10_000)).map(({ content }) => content)
const numbers = (count: number) => Array.from({ length: count }, (_line, at) => `line ${at}`)

test('the output of a run is numbered from 1 without gaps, and the lines of its end follow it', async () => {
  const log = new PodLog()
  const console = openConsole(newPod(), log, ['Ended by itself with exit code 0.'])
  log.print(...numbers(5))
  expect(await textsOf(console)).toEqual(numbers(5))
  await console.note('[System] a note')
  log.print('last')
  log.end()
  expect(await console.history(100)).toEqual(
    [...numbers(5), '[System] a note', 'last', '[System] Ended by itself with exit code 0.'].map((content, at) => ({
      seq: at + 1,
      type: content.startsWith('[System]') ? 'system' : 'message',
      content,
    })),
  )
  await console.settle()
  expect(await textsOf(console)).toHaveLength(8)
})

test('a reader whose connection breaks continues after the last stored line, even among lines of the same time', async () => {
  const log = new PodLog()
  const console = openConsole(newPod(), log)
  log.breaksAfter = 7
  const received: string[] = []
  log.print(...numbers(40))
  await console.follow(1, (lines) => received.push(...lines.map(({ content }) => content)))
  await until(() => log.readers > 6)
  log.breaksAfter = Infinity
  await until(() => received.length >= 40)
  expect(received).toEqual(numbers(40))
  await console.close()
})

test('a viewer gets lines that could not be stored at first, although the program prints no more', async () => {
  const log = new PodLog()
  const store = createConsoleStore(state.db)
  let failures = 0
  const append: ConsoleStore['append'] = async (podName, head, lines) => {
    if (lines.some(({ content }) => content === 'line 1') && failures++ === 0)
      throw new Error('The database does not answer')
    return store.append(podName, head, lines)
  }
  const console = openConsole(newPod(), log, [], 'this', { ...store, append })
  const received: string[] = []
  await console.follow(1, (lines) => received.push(...lines.map(({ content }) => content)))
  log.print('line 0')
  await until(() => received.length === 1)
  log.print('line 1')
  await until(() => received.length === 2)
  expect(failures).toBe(2)
  await console.close()
})

test('two replicas that read one log at the same time store each line once, with the same numbers', async () => {
  const log = new PodLog()
  const podName = newPod()
  const [one, other] = [openConsole(podName, log), openConsole(podName, log, [], 'that')]
  log.print(...numbers(2000))
  // Without a lease: both read for an answer.
  const [first, second] = await Promise.all([one.history(10_000), other.history(10_000)])
  expect(second.slice(0, first.length)).toEqual(first.slice(0, second.length))
  expect(await textsOf(one)).toEqual(numbers(2000))
})

test('followers on two replicas receive every line once and in order while only one replica reads', async () => {
  const log = new PodLog()
  const podName = newPod()
  const consoles = [openConsole(podName, log), openConsole(podName, log, [], 'that')]
  const received = consoles.map(() => [] as number[])
  log.print('begin')
  for (const [at, console] of consoles.entries())
    await console.follow(1, (lines) => received[at]!.push(...lines.map(({ seq }) => seq)))
  // Each has read what there was, and one follows.
  await until(() => log.readers === 3)
  const store = createConsoleStore(state.db)
  for (let round = 0; round < 20; round++) {
    log.print(...numbers(50))
    const newest = (await store.newest([podName])).get(podName) ?? 0
    for (const console of consoles) console.deliverTo(newest)
  }
  await until(async () => {
    const newest = (await store.newest([podName])).get(podName) ?? 0
    for (const console of consoles) console.deliverTo(newest)
    return received.every(({ length }) => length >= 1001)
  })
  for (const seqs of received) expect(seqs).toEqual(seqs.map((_seq, at) => at + 1))
  expect(log.readers).toBe(3)
  for (const console of consoles) await console.close()
})

test('a reader continues after rows that another one stored while it connected', async () => {
  const podName = newPod()
  class SharedLog extends PodLog {
    override async *read(options: LogOptions): AsyncGenerator<LogRow[]> {
      if (options.follow) {
        this.print('stored by another')
        await openConsole(podName, this, [], 'that').settle()
      }
      yield* super.read(options)
    }
  }
  const log = new SharedLog()
  const console = openConsole(podName, log)
  const received: string[] = []
  await console.follow(1, (lines) => received.push(...lines.map(({ content }) => content)))
  await until(() => log.readers === 3)
  // Longer than rows are collected.
  await delay(100)
  log.print('printed then')
  await until(() => received.length === 2, Boolean, 10)
  expect(received).toEqual(['stored by another', 'printed then'])
  await console.close()
})

test('another replica continues to read when the reading one is gone without releasing its lease', async () => {
  const log = new PodLog()
  const podName = newPod()
  const store = createConsoleStore(state.db)
  await store.head(podName)
  expect(await store.lease(podName, 'gone')).toBe(true)
  const console = openConsole(podName, log)
  const received: string[] = []
  await console.follow(1, (lines) => received.push(...lines.map(({ content }) => content)))
  log.print(...numbers(3))
  await until(() => received.length === 3, Boolean, 15)
  await console.close()
})

test.each(['the watch for the ready line', 'a viewer'])(
  'a line that another replica stores while a listener is added is not lost for %s that was there before',
  async (first) => {
    const podName = newPod()
    const log = new PodLog()
    log.print('begin')
    await openConsole(podName, log).settle()
    const store = createConsoleStore(state.db)
    await store.lease(podName, 'another')
    let isAdding = false
    const console = openConsole(podName, log, [], 'this', {
      ...store,
      async lines(name, from) {
        // Only a new listener needs the first line.
        if (isAdding && from === 1) {
          isAdding = false
          await store.append(podName, await store.head(podName), [{ type: 'message', content: 'Ready' }])
        }
        return store.lines(name, from)
      },
    })
    const watched: string[] = []
    const seen: string[] = []
    const watch = () => console.watchLines((texts) => void watched.push(...texts))
    const view = () => console.follow(1, (lines) => void seen.push(...lines.map(({ content }) => content)))
    const [add, addOther] = first === 'a viewer' ? [view, watch] : [watch, view]
    await add()
    isAdding = true
    await addOther()
    expect(isAdding).toBe(false)
    console.deliverTo(Infinity)
    await until(() => watched.length + seen.length >= 4, Boolean, 3).catch(() => undefined)
    await console.close()
    expect(watched).toEqual(['begin', 'Ready'])
    expect(seen).toEqual(['begin', 'Ready'])
  },
)

test('a log that no longer holds the newest stored line says that output is missing', async () => {
  const log = new PodLog()
  const console = openConsole(newPod(), log)
  log.print(...numbers(4))
  expect(await textsOf(console)).toEqual(numbers(4))
  log.print('lost', 'lost', 'lost', 'found')
  log.rows = log.rows.slice(-1)
  expect(await textsOf(console)).toEqual([
    ...numbers(4),
    '[System] Output is missing here: the node no longer keeps it.',
    'found',
  ])
})

test('a log that is gone with its Pod before it was read says that output may be missing', async () => {
  const log = new PodLog()
  const console = openConsole(newPod(), log, ['Ended by the cluster: its Pod was deleted'])
  log.print(...numbers(4))
  expect(await textsOf(console)).toEqual(numbers(4))
  log.print('never read')
  log.isGone = true
  log.end()
  await console.settle()
  expect(await textsOf(console)).toEqual([
    ...numbers(4),
    '[System] Output may be missing here: the Pod is gone, and its log with it.',
    '[System] Ended by the cluster: its Pod was deleted',
  ])
})

test('a log that was followed to its end says nothing of missing output when its Pod is gone', async () => {
  const log = new PodLog()
  const console = openConsole(newPod(), log, ['Stopped (with exit code 0).'])
  const received: string[] = []
  await console.follow(1, (lines) => received.push(...lines.map(({ content }) => content)))
  log.print(...numbers(4))
  await until(() => received.length === 4)
  log.isGone = true
  log.end()
  await until(() => received.length === 5)
  expect(received.at(-1)).toBe('[System] Stopped (with exit code 0).')
  await console.close()
})

describe('the clock of a node is set back', () => {
  const HOUR_SECONDS = 3600

  test.each([3, 4, 5, 300, 9000])(
    'after %i lines: a log that is read again neither misses nor repeats a line',
    async (count) => {
      const log = new PodLog()
      const console = openConsole(newPod(), log)
      log.print('first', ...numbers(count))
      await console.settle()
      log.clockSkew = -HOUR_SECONDS
      log.print(...numbers(5).map((text) => `earlier ${text}`))
      const printed = () => log.rows.map(({ text }) => text).slice(-10_000)
      expect(await textsOf(console)).toEqual(printed())
      log.print(...numbers(500).map((text) => `second ${text}`))
      expect(await textsOf(console)).toEqual(printed())
      expect(await textsOf(console)).toEqual(printed())
      // The clock is right again, or has come as far as it was.
      log.clockSkew = 0
      log.print('last')
      log.end()
      expect(await textsOf(console)).toEqual(printed())
    },
  )

  test('and forward again while the log is not read: the lines in between are stored as well', async () => {
    const log = new PodLog()
    const console = openConsole(newPod(), log)
    log.print(...numbers(4))
    expect(await textsOf(console)).toEqual(numbers(4))
    log.clockSkew = -HOUR_SECONDS
    log.print('in between')
    log.clockSkew = HOUR_SECONDS
    log.print('after it')
    expect(await textsOf(console)).toEqual([...numbers(4), 'in between', 'after it'])
  })

  test.each([0, 300])(
    'and %i lines are printed before the log is followed again: each viewer receives every line once',
    async (count) => {
      const log = new PodLog()
      const podName = newPod()
      const consoles = [openConsole(podName, log), openConsole(podName, log, [], 'that')]
      const received: string[] = []
      log.print(...numbers(7))
      const unfollow = await consoles[0]!.follow(1, (lines) => received.push(...lines.map(({ content }) => content)))
      await until(() => received.length === 7)
      unfollow()
      await consoles[0]!.close()
      log.clockSkew = -HOUR_SECONDS
      log.print(...numbers(count), 'printed meanwhile')
      await consoles[1]!.follow(8, (lines) => received.push(...lines.map(({ content }) => content)))
      log.print('printed then')
      await until(() => received.at(-1) === 'printed then')
      expect(received).toEqual([...numbers(7), ...numbers(count), 'printed meanwhile', 'printed then'])
      await consoles[1]!.close()
    },
  )

  test('two replicas that read the log at the same time store each line once', async () => {
    const log = new PodLog()
    const podName = newPod()
    const [one, other] = [openConsole(podName, log), openConsole(podName, log, [], 'that')]
    log.print(...numbers(100))
    await one.settle()
    log.clockSkew = -HOUR_SECONDS
    log.print(...numbers(2000))
    await Promise.all([one.settle(), other.settle()])
    log.clockSkew = -2 * HOUR_SECONDS
    log.print(...numbers(2000))
    await Promise.all([one.settle(), other.settle()])
    expect(await textsOf(one)).toEqual([...numbers(100), ...numbers(2000), ...numbers(2000)])
  })
})

test('a log request that ends too early repeats no stored line and reports no missing ones', async () => {
  const log = new PodLog()
  const console = openConsole(newPod(), log)
  log.print(...numbers(400))
  await console.settle()
  log.print(...numbers(400))
  log.endsAfter = 50
  expect(await textsOf(console)).toEqual(numbers(400))
  log.endsAfter = Infinity
  expect(await textsOf(console)).toEqual([...numbers(400), ...numbers(400)])
})

test('decisions §6: the newest 10,000 lines are kept, within 4 MiB', async () => {
  const log = new PodLog()
  const podName = newPod()
  const console = openConsole(podName, log)
  const received: number[] = []
  await console.follow(1, (lines) => received.push(...lines.map(({ seq }) => seq)))
  for (let round = 0; round < 40; round++) log.print(...numbers(600).map((text) => text.padEnd(1000, '.')))
  await until(() => received.at(-1) === 24_000)
  expect(received).toEqual(received.map((_seq, at) => at + 1))
  const kept = await console.history(10_000)
  expect(kept.at(-1)?.seq).toBe(24_000)
  expect(kept.reduce((sum, { content }) => sum + content.length, 0)).toBeLessThanOrEqual(4 * 2 ** 20)
  const { size } = await state.db
    .selectFrom('console_chunks')
    .select((of) => of.fn.sum(of.fn<number>('octet_length', ['lines'])).as('size'))
    .where('pod_name', '=', podName)
    .executeTakeFirstOrThrow()
  expect(Number(size)).toBeLessThan(12 * 2 ** 20)
  await console.close()
})

test('security 62: fifty concurrent requests for a console share the reads of its log', async () => {
  const log = new PodLog()
  const console = openConsole(newPod(), log)
  log.print(...numbers(5))
  const answers = await Promise.all(Array.from({ length: 50 }, () => textsOf(console)))
  expect(answers).toEqual(Array.from({ length: 50 }, () => numbers(5)))
  expect(log.readers).toBeLessThanOrEqual(2)
})
