import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPower } from '../../../src/platform/deployments/power'
import { reconcile } from '../../../src/platform/deployments/reconcile/reconcile'
import { insertDeployment } from '../../../src/platform/state/deployments/deployments'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { shareDir, manage, deployments, passParts, add, stateOf, consoleOf } = managed

test('an instance that crashes is started again, and its console shows the restart', async () => {
  await add('bot', "console.log('here'); process.exit(4)")
  manage()
  const lines = await until(
    () => consoleOf('bot'),
    (all) => all.filter((line) => line === 'here').length >= 2,
  )
  expect(lines).toEqual(
    expect.arrayContaining(['[System] Ended by itself with exit code 4.', '[System] Starting again in 1 s.']),
  )
  expect((await deployments().instances('bot'))[0]!.restarts).toBeGreaterThanOrEqual(1)
})

test('setting the clock back does not delay the next start of a crashed instance', async () => {
  await add('bot', 'process.exit(4)')
  const begun = Date.now()
  managed.clock.ahead = 0
  const parts = passParts({ now: () => begun + managed.clock.ahead })
  const runs = async () => (await managed.runtime.list()).map(({ runId, state }) => `${runId} ${state}`).join()
  await reconcile(parts)
  await until(runs, (text) => text.includes('EXITED'))
  const first = (await managed.runtime.list())[0]!.runId
  // The exit was recorded before the clock was set back.
  managed.clock.ahead = -3_600_000
  await reconcile(parts)
  await until(runs, (text) => text !== '' && !text.includes(first))
  managed.clock.ahead = 0
})

test('§5 a crashed instance reports its next attempt and when it starts', async () => {
  await add('bot', 'process.exit(4)')
  manage()
  const [instance] = await until(
    () => deployments().instances('bot'),
    (all) => (all[0]?.retry?.attempt ?? 0) >= 3,
  )
  expect(instance).toMatchObject({ state: 'STOPPED', retry: { inMs: expect.any(Number), of: 5 } })
  expect(instance!.retry!.inMs).toBeLessThanOrEqual(1000 * 2 ** (instance!.retry!.attempt - 2))
})

test('§4 an instance not ready after readyTimeoutSeconds prints once what it waits for, until it is ready', async () => {
  await add(
    'bot',
    "process.stdin.on('data', () => console.log('Done (1 s)'))",
    "ready: 'Done \\('\nreadyTimeoutSeconds: 1\n",
  )
  const manager = manage()
  const lateStart = { afterSeconds: 1, waitingFor: 'a console line that matches Done \\(' }
  const notice = '[System] Not ready after 1 s: still waiting for a console line that matches Done \\(.'
  await until(
    () => consoleOf('bot'),
    (lines) => lines.includes(notice),
  )
  expect((await deployments().instances('bot'))[0]).toMatchObject({ state: 'STARTING', lateStart })
  await manager.close()
  // Another platform takes over and does not repeat the message.
  await reconcile(passParts())
  expect((await consoleOf('bot')).filter((line) => line === notice)).toHaveLength(1)
  await managed.runtime.write((await deployments().instances('bot'))[0]!.podName, 'go')
  await until(
    () => stateOf('bot'),
    (current) => current === 'RUNNING',
  )
  expect((await deployments().instances('bot'))[0]!.lateStart).toBeUndefined()
})

test.each([
  ['scalable', 'Start it to try again.'],
  // §2: a process has no Start.
  ['process', 'Restart its deployment to try again.'],
])(
  '§4 the fifth crash within five minutes blocks the instance; its console shows the reason and the remedy: %s',
  async (type, remedy) => {
    await add('bot', "process.stdin.on('data', () => process.exit(4))", '', type)
    manage()
    await until(
      () => stateOf('bot'),
      (current) => current === 'RUNNING',
    )
    const now = Date.now()
    await managed.state.db
      .updateTable('instances')
      .set({ crashes: JSON.stringify([now - 4, now - 3, now - 2, now - 1]) })
      .execute()
    await managed.runtime.write((await deployments().instances('bot'))[0]!.podName, 'crash')
    await until(
      () => stateOf('bot'),
      (current) => current === 'BLOCKED',
    )
    expect((await consoleOf('bot')).at(-1)).toBe(
      `[System] Blocked: Ended 5 times within 5 minutes, the last time with exit code 4. ${remedy}`,
    )
    // No start has followed.
    expect((await deployments().instances('bot'))[0]).toMatchObject({
      restarts: 0,
      lastExit: { code: 4 },
      crashedAt: expect.any(Number),
    })
  },
)

test('a failed restart names the instance that did not start', async () => {
  await add(
    'bot',
    "if (require('node:fs').existsSync('bad')) process.exit(9); console.log('up'); setInterval(() => {}, 1000)",
    'ready: up\n',
  )
  manage()
  await until(
    () => stateOf('bot'),
    (now) => now === 'RUNNING',
  )
  await writeFile(join(shareDir(), 'bot/bad'), '')
  await managed.state.db
    .updateTable('instances')
    .set({ crashes: JSON.stringify([1, 2, 3, 4].map((ago) => Date.now() - ago)) })
    .execute()
  await expect(deployments().restart('bot')).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('did not start again: Ended 5 times'),
  })
  await expect(deployments().restart('nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('§4 a missing jar blocks the instance with the exact message and the expected path', async () => {
  await insertWorld()
  manage()
  await until(
    () => stateOf('world'),
    (now) => now === 'BLOCKED',
  )
  expect(await consoleOf('world')).toEqual(['Jar file not found!'])
  expect((await deployments().instances('world'))[0]!.blockedReason).toBe(
    'Jar file not found! Expected path: /nfsshare/world/server.jar',
  )
})

test('an instance that was blocked or stopped starts after its deployment was disabled and enabled, however quickly', async () => {
  await insertWorld()
  await add('bot', FOREVER)
  const parts = passParts()
  await reconcile(parts)
  await reconcile(parts)
  expect(await stateOf('world')).toBe('BLOCKED')
  const [bot] = await deployments().instances('bot')
  await createPower({ ...parts, wake: () => undefined }).request(bot!.podName, 'stop')
  await until(
    () => stateOf('bot'),
    (now) => now === 'STOPPED',
  )
  // No pass of the manager sees them disabled.
  for (const enabled of [false, true])
    for (const name of ['world', 'bot']) await deployments().setEnabled(name, enabled)
  expect(await stateOf('world')).toBe('STOPPED')
  await reconcile(parts)
  await until(
    () => stateOf('bot'),
    (now) => now === 'RUNNING',
  )
  expect(await consoleOf('world')).toEqual(['Jar file not found!', 'Jar file not found!'])
})

const insertWorld = () =>
  insertDeployment(managed.state.db, {
    name: 'world',
    type: 'persistent',
    content: 'name: world\ntype: persistent\nnode: node-a\ndataDirectory: /world\nrun: { jar: server.jar }\n',
    enabled: true,
  })
