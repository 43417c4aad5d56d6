import { createPower } from '../../../src/platform/deployments/power'
import { reconcile } from '../../../src/platform/deployments/reconcile/reconcile'
import { listInstances } from '../../../src/platform/state/deployments/instances'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { deployments, passParts, add, running, fill } = managed
const rowOf = async () => (await listInstances(managed.state.db)).find(({ deployment }) => deployment === 'world')!
const runOf = async (podName: string) => (await managed.runtime.list()).find((run) => run.podName === podName)!
const powerOf = () => createPower({ db: managed.state.db, runtime: managed.runtime, wake: () => undefined })

async function startWorld(more: string): Promise<string> {
  await add('world', FOREVER, `node: node-a\n${more}`, 'persistent')
  await reconcile(passParts())
  const [instance] = await until(
    () => running('world'),
    (all) => all.length === 1,
  )
  return instance!.podName
}

/** Requests something while a pass is at an earlier deployment, which has no room to start. */
async function reconcileDuring(parts: ReturnType<typeof passParts>, request: () => Promise<unknown>): Promise<void> {
  await add('alpha', FOREVER, 'node: node-a\n', 'persistent')
  let isRequested = false
  await reconcile({
    ...parts,
    hasRoom: async () => {
      if (!isRequested) await request()
      isRequested = true
      return false
    },
  })
  expect(isRequested).toBe(true)
}

/** An instance whose drain has timed out. @returns its name, and the parts of the pass that finds that */
async function drainTimedOut(): Promise<{ podName: string; parts: ReturnType<typeof passParts> }> {
  const podName = await startWorld('drain: { command: leave, timeoutSeconds: 1 }\n')
  fill(podName, 3)
  await powerOf().request(podName, 'drainAndStop')
  const parts = passParts()
  await reconcile(parts)
  const { drain_since } = await rowOf()
  await until(() => Date.now() > drain_since!.getTime() + 1200)
  return { podName, parts }
}

test('Start cancels a drain also while a pass finds that its time is over', async () => {
  const { podName, parts } = await drainTimedOut()
  await reconcileDuring(parts, () => powerOf().request(podName, 'start'))
  expect(await rowOf()).toMatchObject({ wanted: 'running', drain_run: null })
  expect(await runOf(podName)).toMatchObject({ state: 'RUNNING' })
})

test('a drain that is requested while a pass finds that another one of the same run is over is not ended with it', async () => {
  const { podName, parts } = await drainTimedOut()
  await reconcileDuring(parts, () => powerOf().request(podName, 'drainAndRestart'))
  expect(await rowOf()).toMatchObject({ wanted: 'running', drain_then: 'restart' })
})

test('a restart that is requested while a pass ends the one before replaces the run again', async () => {
  const podName = await startWorld('')
  const parts = passParts()
  const first = deployments().restart('world')
  await until(async () => (await rowOf()).restart_run !== null)
  await reconcile(parts)
  await until(async () => (await runOf(podName)).state === 'EXITED')
  await reconcile(parts)
  await until(async () => (await runOf(podName)).state === 'RUNNING')
  const { runId } = await runOf(podName)
  expect((await rowOf()).restart_run).not.toBe(runId)
  let second: Promise<unknown> = Promise.resolve()
  await reconcileDuring(parts, async () => {
    second = deployments().restart('world')
    await until(async () => (await rowOf()).restart_run === runId)
  })
  expect((await rowOf()).restart_run).toBe(runId)
  managed.manage()
  await Promise.all([first, second])
  expect((await runOf(podName)).runId).not.toBe(runId)
})
