import { startManager } from '../../../src/platform/deployments/reconcile/manager'
import { openStateDatabase } from '../../../src/platform/state/db'
import { breakableProxy } from '../../support/platform/breakableProxy'
import { createRandom } from '../../support/platform/fuzz/random'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const KILLS = 50
const NAMES = ['one', 'two', 'three']

/** A manager of another machine, all of whose connections break at a chosen message. */
async function manageFromAfar() {
  const url = new URL(managed.state.url)
  const proxy = await breakableProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const state = await openStateDatabase(url.href)
  const manager = startManager({ ...managed.passParts(), db: state.db, pool: state.pool })
  return { proxy, state, manager }
}

test('§15: the manager is cut off at 50 random points; another takes over within 15 s, and each instance exists once', async () => {
  const random = createRandom(16)
  const both = [await manageFromAfar(), await manageFromAfar()]
  for (const name of NAMES) await managed.add(name, FOREVER)
  const setEnabled = (name: string, enabled: boolean) =>
    managed.state.db.updateTable('deployments').set({ enabled }).where('name', '=', name).execute()
  const isRunning = async (name: string) => (await managed.stateOf(name)) === 'RUNNING'
  for (const name of NAMES) await until(() => isRunning(name))
  const times: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const active = both.find(({ manager }) => manager.isActive)!
    const standby = both.find((one) => one !== active)!
    const name = random.pick(NAMES)
    await setEnabled(name, false)
    active.proxy.breakAfter(1 + random.int(30))
    await until(() => {
      active.manager.wake()
      return active.proxy.isBroken()
    })
    const since = performance.now()
    await setEnabled(name, true)
    await until(() => standby.manager.isActive)
    times.push(performance.now() - since)
    await until(async () => (await Promise.all(NAMES.map(isRunning))).every(Boolean))
    expect((await managed.runtime.list()).filter(({ state }) => state !== 'EXITED')).toHaveLength(NAMES.length)
    expect(await managed.state.db.selectFrom('instances').selectAll().execute()).toHaveLength(NAMES.length)
    active.proxy.mend()
  }
  expect(Math.max(...times)).toBeLessThan(15_000)
  await until(() => both.filter(({ manager }) => manager.isActive).length === 1)
  for (const { manager, state, proxy } of both) {
    await manager.close()
    await state.close()
    await proxy.close()
  }
}, 600_000)
