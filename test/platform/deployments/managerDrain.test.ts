import { parseDefinition } from '../../../src/platform/deployments/definitions'
import { createPower } from '../../../src/platform/deployments/power'
import { requestDrain } from '../../../src/platform/deployments/reconcile/advanceDrains'
import { reconcile } from '../../../src/platform/deployments/reconcile/reconcile'
import { listInstances } from '../../../src/platform/state/deployments/instances'
import { useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { clock, manage, deployments, passParts, add, stateOf, running, fill } = managed

describe('§14 drain', () => {
  const ECHO = "console.log('up'); process.stdin.on('data', (line) => console.log('got ' + line))"
  const LEAVES = "console.log('up'); process.stdin.once('data', () => process.exit(0))"
  const drained = (timeoutSeconds: number) => `drain: { command: leave, timeoutSeconds: ${timeoutSeconds} }\n`
  const linesOf = async (podName: string) =>
    (await managed.runtime.history(podName, 1000)).map(({ content }) => content)
  const runOf = async (podName: string) => (await managed.runtime.list()).find((run) => run.podName === podName)!
  const powerWaking = (wake: () => void) => createPower({ db: managed.state.db, runtime: managed.runtime, wake })

  /** Adds the persistent deployment `world`, and waits until `check` has started its instance. */
  async function startWorld(program: string, check: () => unknown, timeoutSeconds = 600): Promise<string> {
    await add('world', program, `node: node-a\n${drained(timeoutSeconds)}`, 'persistent')
    await check()
    const [instance] = await until(
      () => running('world'),
      (all) => all.length === 1,
    )
    return instance!.podName
  }
  /** The same with a manager. */
  async function manageWorld(program: string, timeoutSeconds?: number) {
    let manager: ReturnType<typeof manage> | undefined
    const podName = await startWorld(program, () => (manager = manage()), timeoutSeconds)
    return { podName, power: powerWaking(() => manager?.wake()) }
  }

  test('a restart drains one instance after the other, sends the command once and stops no instance with players', async () => {
    await add('lobby', ECHO, `instances: { min: 2, max: 2 }\n${drained(600)}`, 'scalable')
    const manager = manage()
    const [first, second] = (
      await until(
        () => running('lobby'),
        (all) => all.length === 2,
      )
    ).map(({ podName }) => podName) as [string, string]
    const before = [(await runOf(first)).runId, (await runOf(second)).runId]
    fill(first, 3)
    fill(second, 2)
    const restarted = deployments().restart('lobby')
    await until(
      () => linesOf(first),
      (lines) => lines.includes('got leave'),
    )
    manager.wake()
    await until(
      () => deployments().instances('lobby'),
      (all) => all[0]?.draining === true,
    )
    expect(await deployments().instances('lobby')).toMatchObject([
      { state: 'RUNNING', canDrain: true },
      { state: 'RUNNING' },
    ])
    expect((await deployments().instances('lobby'))[1]!.draining).toBeUndefined()
    fill(first, 0)
    manager.wake()
    await until(
      () => linesOf(second),
      (lines) => lines.includes('got leave'),
    )
    expect((await runOf(first)).runId).not.toBe(before[0])
    expect((await runOf(second)).runId).toBe(before[1])
    expect((await linesOf(first)).filter((line) => line === 'got leave')).toHaveLength(1)
    fill(second, 0)
    manager.wake()
    await restarted
    expect((await running('lobby')).map(({ draining }) => draining)).toEqual([undefined, undefined])
  })

  test('drain and stop waits for the players, or for the timeout when their number is unknown', async () => {
    const { podName, power } = await manageWorld(ECHO, 1)
    fill(podName, undefined)
    await power.request(podName, 'drainAndStop')
    await until(
      () => stateOf('world'),
      (now) => now === 'STOPPED',
    )
    expect(await linesOf(podName)).toEqual(
      expect.arrayContaining([
        'got leave',
        '[System] Draining: the instance ends when no players are left, at the latest in 1 s.',
      ]),
    )
    await expect(power.request(podName, 'drainAndRestart')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The instance is not running.',
    })
  })

  test('an instance whose drain command ends it stays stopped, which is neither a crash nor followed by a start', async () => {
    const { podName, power } = await manageWorld(LEAVES)
    fill(podName, 2)
    await power.request(podName, 'drainAndStop')
    await until(async () => (await listInstances(managed.state.db))[0]!.handled_run !== null)
    expect((await listInstances(managed.state.db))[0]).toMatchObject({
      wanted: 'stopped',
      drain_run: null,
      crashes: [],
      start_after: null,
    })
    expect((await linesOf(podName)).at(-1)).toBe('[System] Ended by itself with exit code 0.')
    expect(await stateOf('world')).toBe('STOPPED')
  })

  test('an instance whose drain command ends it before a restart starts again at once, which is no crash', async () => {
    const { podName, power } = await manageWorld(LEAVES)
    const { runId } = await runOf(podName)
    fill(podName, 2)
    await power.request(podName, 'drainAndRestart')
    await until(async () => (await runOf(podName)).runId !== runId && (await stateOf('world')) === 'RUNNING')
    await until(async () => (await listInstances(managed.state.db))[0]!.drain_run === null)
    expect((await listInstances(managed.state.db))[0]).toMatchObject({
      wanted: 'running',
      handled_run: runId,
      crashes: [],
      restarts: 0,
    })
    expect((await linesOf(podName)).join()).not.toContain('Starting again in')
  })

  test('a drain does not survive that its deployment is disabled and enabled again', async () => {
    const parts = passParts()
    const podName = await startWorld(ECHO, () => reconcile(parts))
    await powerWaking(() => undefined).request(podName, 'drainAndStop')
    await deployments().setEnabled('world', false)
    await deployments().setEnabled('world', true)
    await reconcile(parts)
    expect((await listInstances(managed.state.db))[0]).toMatchObject({
      wanted: 'running',
      drain_run: null,
      drain_then: null,
    })
    expect(await stateOf('world')).toBe('RUNNING')
  })

  test('a restart of a deployment whose instance has just ended during a drain before its stop starts it again', async () => {
    const parts = passParts()
    const podName = await startWorld(LEAVES, () => reconcile(parts))
    const { runId } = await runOf(podName)
    await powerWaking(() => undefined).request(podName, 'drainAndStop')
    await managed.runtime.write(podName, 'leave')
    await until(async () => (await runOf(podName)).state === 'EXITED')
    // The signal ends the wait only.
    await expect(deployments().restart('world', AbortSignal.abort())).rejects.toThrow()
    await reconcile(parts)
    expect((await listInstances(managed.state.db))[0]).toMatchObject({ wanted: 'running', drain_run: null })
    await until(async () => {
      await reconcile(parts)
      return (await stateOf('world')) === 'RUNNING' && (await runOf(podName)).runId !== runId
    })
  })

  test('drain and restart ends with a new run; a plain restart does not wait', async () => {
    const { podName, power } = await manageWorld(ECHO)
    const isReplaced = async (runId: string) =>
      (await runOf(podName)).runId !== runId && (await runOf(podName)).state === 'RUNNING'
    const first = (await runOf(podName)).runId
    await power.request(podName, 'drainAndRestart')
    await until(() => isReplaced(first))
    fill(podName, 5)
    const second = (await runOf(podName)).runId
    await power.request(podName, 'drainAndRestart')
    await until(
      () => deployments().instances('world'),
      ([instance]) => instance?.draining === true,
    )
    await power.request(podName, 'restart')
    await until(() => isReplaced(second))
    expect((await deployments().instances('world'))[0]!.draining).toBeUndefined()
  })

  test('security 139: a drain neither ends nor grows when the clock is set meanwhile', async () => {
    await add('world', ECHO, `node: node-a\n${drained(600)}`, 'persistent')
    const parts = passParts({ now: () => Date.now() + clock.ahead })
    await reconcile(parts)
    const [instance] = await until(
      () => running('world'),
      (all) => all.length === 1,
    )
    const { podName } = instance!
    fill(podName, 5)
    const power = createPower({ db: managed.state.db, runtime: managed.runtime, wake: () => undefined })
    await power.request(podName, 'drainAndStop')
    await reconcile(parts)
    for (const hours of [2, -2]) {
      clock.ahead = hours * 3_600_000
      const delay = await reconcile(parts)
      expect(delay).toBeGreaterThan(0)
      expect(delay).toBeLessThanOrEqual(600_000)
      expect(await stateOf('world')).toBe('RUNNING')
    }
    fill(podName, 0)
    await reconcile(parts)
    await until(async () => (await stateOf('world')) === 'STOPPED')
  })

  test('scaling down drains the instance with the fewest players, and never stops one whose number of players is unknown', async () => {
    await add('lobby', ECHO, `instances: { min: 1, max: 3, playersPerInstance: 5 }\n${drained(600)}`, 'scalable')
    const begun = Date.now()
    const parts = passParts({ now: () => begun + clock.ahead })
    await reconcile(parts)
    const first = (
      await until(
        () => running('lobby'),
        (all) => all.length === 1,
      )
    )[0]!.podName
    fill(first, 5)
    await reconcile(parts)
    const two = await until(
      () => running('lobby'),
      (all) => all.length === 2,
    )
    const second = two.find(({ podName }) => podName !== first)!.podName
    fill(first, 2)
    fill(second, 1)
    await reconcile(parts)
    clock.ahead = 61_000
    await reconcile(parts)
    await reconcile(parts)
    await until(
      () => linesOf(second),
      (lines) => lines.includes('got leave'),
    )
    expect(await running('lobby')).toMatchObject([{ podName: first }, { podName: second, draining: true }])
    fill(second, undefined)
    clock.ahead = 3_600_000
    await reconcile(parts)
    expect(await running('lobby')).toHaveLength(2)
    fill(second, 0)
    await until(
      async () => {
        await reconcile(parts)
        return deployments().instances('lobby')
      },
      (all) => all.length === 1 && all[0]!.podName === first,
    )
  })

  /** Removes the drain setting of the only deployment. */
  async function removeDrainSetting(): Promise<void> {
    const { content } = await managed.state.db.selectFrom('deployments').select('content').executeTakeFirstOrThrow()
    await managed.state.db
      .updateTable('deployments')
      .set({ content: content.replace(drained(600), '') })
      .execute()
  }

  test('an instance that is to be drained and stopped is stopped at once when its definition loses the drain setting', async () => {
    await add('world', ECHO, `node: node-a\n${drained(600)}`, 'persistent')
    const parts = passParts()
    await reconcile(parts)
    const [instance] = await until(
      () => running('world'),
      (all) => all.length === 1,
    )
    fill(instance!.podName, 3)
    const power = createPower({ db: managed.state.db, runtime: managed.runtime, wake: () => undefined })
    await power.request(instance!.podName, 'drainAndStop')
    await removeDrainSetting()
    await reconcile(parts)
    await until(async () => (await stateOf('world')) === 'STOPPED')
  })

  test.each(['before', 'after'])(
    'an instance that is drained by scaling ends only when it is empty, if the drain setting is removed %s its command',
    async (when) => {
      await add('lobby', ECHO, `instances: { min: 1, max: 1 }\n${drained(600)}`, 'scalable')
      const parts = passParts()
      await reconcile(parts)
      const [instance] = await until(
        () => running('lobby'),
        (all) => all.length === 1,
      )
      const { podName } = instance!
      fill(podName, 2)
      const [row] = await listInstances(managed.state.db)
      await requestDrain(managed.state.db, row!, await runOf(podName), 'gone')
      if (when === 'after') await reconcile(parts)
      await removeDrainSetting()
      for (const players of [2, undefined]) {
        fill(podName, players)
        await reconcile(parts)
        expect(await runOf(podName)).toMatchObject({ state: 'RUNNING' })
      }
      fill(podName, 0)
      await until(async () => {
        await reconcile(parts)
        return (await deployments().instances('lobby')).every((other) => other.podName !== podName)
      })
    },
  )

  test('a definition of a process with drain is refused, and draining an instance without a drain setting fails', async () => {
    expect(() =>
      parseDefinition('name: a\ntype: process\ndataDirectory: /a\nrun: { command: [x] }\ndrain: {}\n'),
    ).toThrow('drain: is not for a process: it has no players')
    await add('world', ECHO, 'node: node-a\n', 'persistent')
    manage()
    const [instance] = await until(
      () => running('world'),
      (all) => all.length === 1,
    )
    const power = createPower({ db: managed.state.db, runtime: managed.runtime, wake: () => undefined })
    await expect(power.request(instance!.podName, 'drainAndStop')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('has no "drain" setting'),
    })
  })
})
