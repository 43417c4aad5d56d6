import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import type { ClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import type { ConsoleStore } from '../../../../src/platform/runtime/kubernetes/console/consoleStore'
import { createPodConsoles } from '../../../../src/platform/runtime/kubernetes/console/podConsoles'
import type { LogOptions, LogRow } from '../../../../src/platform/runtime/kubernetes/console/podLog'
import type { PodRuns } from '../../../../src/platform/runtime/kubernetes/podRuns'
import { numbers, PodLog, textsOf, usePodConsoles } from '../../../support/platform/podConsoles'
import { until } from '../../../support/platform/until'

const { openConsole, newPod, store } = usePodConsoles()

test('two replicas that read one log at the same time store each line once, with the same numbers', async () => {
  const log = new PodLog()
  const podName = newPod()
  const [one, other] = [openConsole(podName, log), openConsole(podName, log, [], 'that')]
  log.print(...numbers(2000))
  // Without a lease: both read for a response.
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
  const consoleStore = store()
  for (let round = 0; round < 20; round++) {
    log.print(...numbers(50))
    const newest = (await consoleStore.newest([podName])).get(podName) ?? 0
    for (const console of consoles) console.deliverTo(newest)
  }
  await until(async () => {
    const newest = (await consoleStore.newest([podName])).get(podName) ?? 0
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
  const consoleStore = store()
  await consoleStore.head(podName)
  expect(await consoleStore.lease(podName, 'gone')).toBe(true)
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
    const consoleStore = store()
    await consoleStore.lease(podName, 'another')
    let isAdding = false
    const console = openConsole(podName, log, [], 'this', {
      ...consoleStore,
      async lines(name, from) {
        // Only a new listener needs the first line.
        if (isAdding && from === 1) {
          isAdding = false
          await consoleStore.append(podName, await consoleStore.head(podName), [{ type: 'message', content: 'Ready' }])
        }
        return consoleStore.lines(name, from)
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
    await until(() => watched.length + seen.length >= 4, Boolean, 20).catch(() => undefined)
    await console.close()
    expect(watched).toEqual(['begin', 'Ready'])
    expect(seen).toEqual(['begin', 'Ready'])
  },
)

test('the lines of other replicas are looked for once at a time, however long the state takes', async () => {
  let asked = 0
  let answer = () => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const slow: ConsoleStore = {
    ...store(),
    async newest() {
      asked += 1
      await answered
      return new Map()
    },
  }
  const runs = { watch: () => () => undefined, runOf: () => undefined } as unknown as PodRuns
  const consoles = createPodConsoles(runs, {} as ClusterClient, slow, pino({ level: 'silent' }))
  try {
    await consoles.of(newPod()).follow(1, () => undefined)
    await until(() => asked > 0)
    await delay(800)
    expect(asked).toBe(1)
    answer()
    await until(() => asked > 2)
  } finally {
    answer()
    await consoles.close()
  }
})
