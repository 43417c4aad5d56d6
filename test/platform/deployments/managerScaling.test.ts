import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPower } from '../../../src/platform/deployments/power'
import { reconcile } from '../../../src/platform/deployments/reconcile/reconcile'
import { insertDeployment } from '../../../src/platform/state/deployments/deployments'
import { freePort } from '../../support/platform/freePort'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { clock, manage, deployments, passParts, add, running, fill } = managed

test('decisions §4: a scalable deployment grows with its players, up to max, and keeps room for another player', async () => {
  await add('lobby', FOREVER, 'instances: { min: 1, max: 3, playersPerInstance: 2 }\n', 'scalable')
  const manager = manage()
  const [first] = await until(
    () => running('lobby'),
    (all) => all.length === 1,
  )
  fill(first!.podName, 1)
  await reconcile(passParts())
  expect(await deployments().instances('lobby')).toHaveLength(1)
  fill(first!.podName, 2)
  manager.wake()
  await until(
    () => running('lobby'),
    (all) => all.length === 2,
  )
  fill(first!.podName, 90)
  manager.wake()
  const three = await until(
    () => running('lobby'),
    (all) => all.length === 3,
  )
  expect(three.find(({ podName }) => podName === first!.podName)).toMatchObject({ type: 'minecraft', connections: 90 })
})

/** Three instances, needed by the players of the first; the test runs further passes itself. */
async function threeInstances() {
  await add('lobby', FOREVER, 'instances: { min: 1, max: 3, playersPerInstance: 2 }\n', 'scalable')
  const begun = Date.now()
  const parts = passParts({ now: () => begun + clock.ahead })
  await reconcile(parts)
  const [first] = await until(
    () => running('lobby'),
    (all) => all.length === 1,
  )
  fill(first!.podName, 4)
  await reconcile(parts)
  const three = await until(
    () => running('lobby'),
    (all) => all.length === 3,
  )
  return { parts, first: first!, three }
}

test('decisions §4: it shrinks after a minute of overcapacity, and never stops an instance with players', async () => {
  const { parts, first, three } = await threeInstances()
  const last = three.find(({ podName }) => podName !== first.podName)!
  fill(first.podName, 0)
  fill(last.podName, 1)
  await reconcile(parts)
  clock.ahead = 59_000
  await reconcile(parts)
  expect(await running('lobby')).toHaveLength(3)
  clock.ahead = 61_000
  await reconcile(parts)
  const left = await until(
    async () => {
      await reconcile(parts)
      return deployments().instances('lobby')
    },
    (all) => all.length === 1,
  )
  expect(left[0]!.podName).toBe(last.podName)
})

test('§14 scaling never stops an instance whose number of players is unknown, nor the instances those players may need', async () => {
  const { parts, first, three } = await threeInstances()
  // Its ping fails from now on. It may have up to two players, who need two instances.
  const last = three.at(-1)!
  fill(first.podName, 0)
  fill(last.podName, undefined)
  const settle = async () => {
    for (const minutes of [2, 4, 6]) {
      clock.ahead = minutes * 60_000
      await reconcile(parts)
      await until(
        () => managed.runtime.list(),
        (all) => all.every((run) => run.state !== 'STOPPING'),
      )
    }
  }
  await settle()
  expect((await running('lobby')).map(({ podName }) => podName)).toEqual([first.podName, last.podName])
  for (const { podName } of three) fill(podName, undefined)
  await settle()
  expect(await running('lobby')).toHaveLength(2)
  expect((await running('lobby'))[0]).toMatchObject({ players: {}, connections: 0, playerCount: null })
})

test('decisions §4: a restart replaces one instance after another and resolves when all are running', async () => {
  await add('lobby', FOREVER, 'instances: { min: 2, max: 2 }\n', 'scalable')
  manage()
  const before = await until(
    () => running('lobby'),
    (all) => all.length === 2,
  )
  const runs = new Set((await managed.runtime.list()).map(({ runId }) => runId))
  let fewest = 2
  const unwatch = managed.runtime.watch(
    () =>
      void managed.runtime
        .list()
        .then((all) => (fewest = Math.min(fewest, all.filter(({ state: current }) => current === 'RUNNING').length))),
  )
  await deployments().restart('lobby')
  unwatch()
  const after = await running('lobby')
  expect(after.map(({ uid }) => uid)).toEqual(before.map(({ uid }) => uid))
  expect((await managed.runtime.list()).filter(({ runId }) => runs.has(runId))).toEqual([])
  expect(fewest).toBeGreaterThanOrEqual(1)
})

describe('an instance that does not start again ends the restart of its deployment', () => {
  const bad = () => join(managed.shareDir(), 'lobby/bad')
  const fragile = `if (require('node:fs').existsSync('bad')) process.exit(9); ${FOREVER}`
  beforeEach(async () => {
    await add('lobby', fragile, 'instances: { min: 2, max: 2 }\nready: pid\n', 'scalable')
    manage()
    await until(
      () => running('lobby'),
      (all) => all.length === 2,
    )
    await writeFile(bad(), '')
  })
  afterEach(() => rm(bad()))
  /** The next crash blocks. */
  const crashOften = () =>
    managed.state.db
      .updateTable('instances')
      .set({ crashes: JSON.stringify([1, 2, 3, 4].map((ago) => Date.now() - ago)) })
      .execute()
  const expectFailure = () =>
    expect(deployments().restart('lobby')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/ did not start again: Ended 5 times .*\. Still running and not restarted: 1\.$/s),
    })

  test('and the others run on', async () => {
    const before = await running('lobby')
    await crashOften()
    await expectFailure()
    expect(await running('lobby')).toEqual([expect.objectContaining({ uid: before[1]!.uid })])
    const rows = await managed.state.db.selectFrom('instances').select(['restart_run', 'restarts']).execute()
    expect(rows.map(({ restart_run }) => restart_run)).toEqual([null, null])
    await deployments().setEnabled('lobby', false)
  })

  test('and a stopped one is tried first', async () => {
    const [stays, stops] = await running('lobby')
    const runs = await managed.runtime.list()
    await createPower({ ...managed.passParts(), wake: () => undefined }).request(stops!.podName, 'stop')
    await until(
      () => running('lobby'),
      (all) => all.length === 1,
    )
    const failure = expectFailure()
    // After its first crash it is started again.
    await until(async () => (await deployments().instances('lobby')).some(({ lastExit }) => lastExit?.code === 9))
    await crashOften()
    await failure
    expect(await running('lobby')).toEqual([expect.objectContaining({ uid: stays!.uid })])
    expect(await managed.runtime.list()).toContainEqual(
      expect.objectContaining({
        runId: runs.find(({ podName }) => podName === stays!.podName)!.runId,
        state: 'RUNNING',
      }),
    )
  })
})

test('an instance reports the port it was started with, even after its definition has changed', async () => {
  let port = await freePort()
  for (let next; (next = await freePort()) !== port + 1;) port = next
  const content = (first: number) =>
    `name: lobby\ntype: scalable\ndataDirectory: /lobby\nrun: { command: ["node", "-e", ${JSON.stringify(FOREVER)}], port: ${first} }\ninstances: { min: 2, max: 2 }\nstop: { timeoutSeconds: 1 }\n`
  await insertDeployment(managed.state.db, { name: 'lobby', type: 'scalable', content: content(port), enabled: true })
  manage()
  await until(
    () => running('lobby'),
    (all) => all.length === 2,
  )
  await managed.state.db
    .updateTable('deployments')
    .set({ content: content(30_000) })
    .execute()
  expect((await running('lobby')).map(({ port }) => port).sort()).toEqual([port, port + 1])
})
