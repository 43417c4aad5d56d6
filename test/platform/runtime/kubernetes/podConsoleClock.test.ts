import { numbers, PodLog, textsOf, usePodConsoles } from '../../../support/platform/podConsoles'
import { until } from '../../../support/platform/until'

const { openConsole, newPod } = usePodConsoles()

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
