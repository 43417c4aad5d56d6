import type { ConsoleStore } from '../../../../src/platform/runtime/kubernetes/console/consoleStore'
import { numbers, PodLog, textsOf, usePodConsoles } from '../../../support/platform/podConsoles'
import { until } from '../../../support/platform/until'

const { openConsole, newPod, state, store } = usePodConsoles()

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
  const consoleStore = store()
  let failures = 0
  const append: ConsoleStore['append'] = async (podName, head, lines) => {
    if (lines.some(({ content }) => content === 'line 1') && failures++ === 0)
      throw new Error('The database does not answer')
    return consoleStore.append(podName, head, lines)
  }
  const console = openConsole(newPod(), log, [], 'this', { ...consoleStore, append })
  const received: string[] = []
  await console.follow(1, (lines) => received.push(...lines.map(({ content }) => content)))
  log.print('line 0')
  await until(() => received.length === 1)
  log.print('line 1')
  await until(() => received.length === 2)
  expect(failures).toBe(2)
  await console.close()
})

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
  const { size } = await state()
    .db.selectFrom('console_chunks')
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
