import { AsyncLocalStorage } from 'node:async_hooks'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Caller } from '../../../src/platform/caller'
import { createPower } from '../../../src/platform/deployments/power'
import { lockOwner } from '../../../src/platform/processLock'
import { useDeploymentCalls } from '../../support/platform/deploymentCalls'
import { startPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, call, shareDir, statesOf } = useDeploymentCalls()

test('§7 a deployment is toggled, restarted and deleted', async () => {
  const content =
    'name: a-process\ntype: process\ndataDirectory: /a-process\nrun: { command: ["node", "-e", "setInterval(() => {}, 1000)"] }\nstop: { timeoutSeconds: 1 }\n'
  await call('POST', '', { name: 'a-process', type: 'process' })
  await call('PATCH', '/a-process', { content })
  expect(await call('POST', '/a-process/restart')).toMatchObject({
    status: 409,
    body: { message: 'The deployment "a-process" is disabled. Enable it to start it.' },
  })
  expect(await call('POST', '/a-process/toggle', { enabled: true })).toMatchObject({ status: 200 })
  await until(
    () => statesOf('a-process'),
    (states) => states[0] === 'RUNNING',
  )
  expect(await call('POST', '/a-process/restart')).toMatchObject({ status: 200 })
  expect(await statesOf('a-process')).toEqual(['RUNNING'])
  expect(await call('POST', '/a-process/toggle', { enabled: 'yes' })).toMatchObject({
    status: 400,
    body: { field: 'enabled' },
  })
  expect(await call('DELETE', '/a-process')).toMatchObject({ status: 200 })
  expect(await call('GET', '/a-process')).toMatchObject({ status: 404 })
  expect(await platform().runtime.list()).toEqual([])
  expect(await readdir(shareDir())).toContain('a-process')
})

test('decisions §4: a restart retries a blocked instance and reports why it fails', async () => {
  const definition = (run: string) =>
    `name: given-up\ntype: persistent\nnode: node-a\ndataDirectory: /given-up\nrun: ${run}\nstop: { timeoutSeconds: 1 }\n`
  await call('POST', '', { name: 'given-up', type: 'persistent', node: 'node-a' })
  expect(await call('PATCH', '/given-up', { content: definition('{ jar: server.jar }') })).toMatchObject({
    status: 200,
  })
  await call('POST', '/given-up/toggle', { enabled: true })
  await until(
    () => statesOf('given-up'),
    (states) => states[0] === 'BLOCKED',
  )
  expect(await call('POST', '/given-up/restart')).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', message: expect.stringContaining('did not start again') as string },
  })
  await call('PATCH', '/given-up', {
    content: definition('{ command: ["node", "-e", "setInterval(() => {}, 1000)"] }'),
  })
  expect(await call('POST', '/given-up/restart')).toMatchObject({ status: 200 })
  await until(
    () => statesOf('given-up'),
    (states) => states[0] === 'RUNNING',
  )
  expect(await call('DELETE', '/given-up')).toMatchObject({ status: 200 })
})

test('§4 a restart also starts instances that were stopped or blocked', async () => {
  const definition = (program: string) =>
    `name: halted\ntype: process\ndataDirectory: /halted\nrun: { command: [${program}] }\nstop: { timeoutSeconds: 1 }\n`
  const forever = definition('"node", "-e", "setInterval(() => {}, 1000)"')
  const power = createPower({ db: platform().db, runtime: platform().runtime, wake: () => undefined })
  const podName = async () =>
    ((await call('GET', '/halted/instances')).body.data.instances as { podName: string }[])[0]!.podName
  await call('POST', '', { name: 'halted', type: 'process' })
  expect(await call('PATCH', '/halted', { content: forever })).toMatchObject({ status: 200 })
  await call('POST', '/halted/toggle', { enabled: true })
  await until(
    () => statesOf('halted'),
    (states) => states[0] === 'RUNNING',
  )
  await power.request(await podName(), 'stop')
  await until(
    () => statesOf('halted'),
    (states) => states[0] === 'STOPPED',
  )
  expect(await call('POST', '/halted/restart')).toMatchObject({ status: 200 })
  expect(await statesOf('halted')).toEqual(['RUNNING'])

  await call('PATCH', '/halted', { content: definition('"no-such-program"') })
  await platform()
    .db.updateTable('instances')
    .set({ crashes: JSON.stringify([1, 2, 3, 4].map((ago) => Date.now() - ago)) })
    .execute()
  expect(await call('POST', '/halted/restart')).toMatchObject({ status: 409 })
  expect(await statesOf('halted')).toEqual(['BLOCKED'])
  await power.request(await podName(), 'stop')
  await until(
    () => statesOf('halted'),
    (states) => states[0] === 'STOPPED',
  )
  await call('PATCH', '/halted', { content: forever })
  expect(await call('POST', '/halted/restart')).toMatchObject({ status: 200 })
  expect(await statesOf('halted')).toEqual(['RUNNING'])
  expect(await call('DELETE', '/halted')).toMatchObject({ status: 200 })
})

test.each([
  ['disabled', () => call('POST', '/interrupted/toggle', { enabled: false })],
  ['deleted', () => call('DELETE', '/interrupted')],
])(
  'security 166: a restart of a deployment that is %s before it has started again is no success',
  async (_how, end) => {
    const program =
      "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 1500)); console.log('Ready'); setInterval(() => {}, 1000)"
    const content = `name: interrupted\ntype: process\ndataDirectory: /interrupted\nready: Ready\nrun: { command: ["node", "-e", ${JSON.stringify(program)}] }\n`
    await call('POST', '', { name: 'interrupted', type: 'process' })
    expect(await call('PATCH', '/interrupted', { content })).toMatchObject({ status: 200 })
    await call('POST', '/interrupted/toggle', { enabled: true })
    await until(
      () => statesOf('interrupted'),
      (states) => states[0] === 'RUNNING',
    )
    const restarted = call('POST', '/interrupted/restart')
    await until(
      () => statesOf('interrupted'),
      (states) => states[0] === 'STOPPING',
    )
    expect(await end()).toMatchObject({ status: 200 })
    expect(await restarted).toMatchObject({
      status: 409,
      body: {
        code: 'CONFLICT',
        message: 'The deployment "interrupted" was disabled or deleted before it had restarted.',
      },
    })
    await call('DELETE', '/interrupted')
  },
)

test('a pending call is answered as soon as the platform closes, and its operation continues at the next start', async () => {
  const other = await startPlatform()
  try {
    const { token } = await other.register('ann')
    const ask = (method: 'PATCH' | 'POST' | 'DELETE', path: string, body?: unknown) =>
      other.call(method, `/api/deployments${path}`, { body, token })
    await ask('POST', '', { name: 'busy', type: 'process' })
    await ask('PATCH', '/busy', {
      content:
        'name: busy\ntype: process\ndataDirectory: /busy\nrun: { command: ["node", "-e", "console.log(\'Ready\'); setInterval(() => {}, 1000)"] }\nready: Ready\nstop: { command: "nothing that it heeds", timeoutSeconds: 20 }\n',
    })
    await ask('POST', '/busy/toggle', { enabled: true })
    const run = async () => (await other.runtime.list())[0]
    await until(run, (found) => found?.state === 'RUNNING')
    const answers = Promise.all([ask('POST', '/busy/restart'), ask('POST', '/busy/restart')])
    await until(run, (found) => found?.state === 'STOPPING')
    await other.app.close()
    for (const answer of await answers)
      expect(answer).toMatchObject({
        status: 503,
        body: {
          code: 'UNAVAILABLE',
          message: 'The platform is shutting down. The operation continues when it runs again.',
        },
      })
    expect(await run()).toMatchObject({ state: 'STOPPING' })
    await other.runtime.kill((await run())!.podName)
  } finally {
    await other.close()
  }
})

test('while the host process is down, calls get 503 with a clear message, and work again soon after', async () => {
  await call('POST', '', { name: 'hosted', type: 'process' })
  expect(await call('GET', '/hosted/instances')).toMatchObject({ status: 200 })
  const pid = lockOwner(join(platform().dataDir, 'runtime/instances.lock'))!
  // Stopped first, so that it cannot answer before it is killed.
  process.kill(pid, 'SIGSTOP')
  // The manager lists instances too.
  const ours = new AsyncLocalStorage<true>()
  const list = platform().runtime.list.bind(platform().runtime)
  let hasAsked = false
  const spy = jest.spyOn(platform().runtime, 'list').mockImplementation(() => {
    const listed = list()
    hasAsked ||= ours.getStore() === true
    return listed
  })
  const asked = ours.run(true, () => call('GET', '/hosted/instances'))
  await until(() => hasAsked)
  spy.mockRestore()
  process.kill(pid, 'SIGKILL')
  expect(await asked).toMatchObject({
    status: 503,
    body: {
      code: 'UNAVAILABLE',
      message: 'The process that runs the instances has ended and is restarting. Try again in a moment.',
    },
  })
  await until(
    () => call('GET', '/hosted/instances'),
    ({ status }) => status === 200,
  )
})

test('an aborted call stops waiting for an instance to stop, and the operation continues', async () => {
  const definition =
    'name: slow-end\ntype: process\ndataDirectory: /slow-end\nrun: { command: ["node", "-e", "process.on(\'SIGTERM\', () => setTimeout(() => process.exit(), 1500)); console.log(\'Ready\'); setInterval(() => {}, 1000)"] }\nready: Ready\nstop: { timeoutSeconds: 1 }\n'
  await call('POST', '', { name: 'slow-end', type: 'process' })
  expect(await call('PATCH', '/slow-end', { content: definition })).toMatchObject({ status: 200 })
  await call('POST', '/slow-end/toggle', { enabled: true })
  await until(
    () => statesOf('slow-end'),
    (states) => states[0] === 'RUNNING',
  )
  const gone = new AbortController()
  const asked = platform().deployments.remove('slow-end', gone.signal)
  gone.abort(new Error('hung up'))
  await expect(asked).rejects.toThrow('hung up')
  expect(await call('GET', '/slow-end')).toMatchObject({ status: 200 })
  await until(
    () => call('GET', '/slow-end'),
    ({ status }) => status === 404,
  )
})

test('a text that waits while its deployment is deleted and created again with another type is not stored', async () => {
  await call('POST', '', { name: 'again', type: 'process' })
  const content = 'name: again\ntype: process\ndataDirectory: /again\nrun: { command: ["node", "bot.js"] }\n'
  const by: Caller = { userId: 1, username: 'ann', role: 'operator', isAdmin: false, grants: new Map() }
  const present = jest.fn(async () => by).mockResolvedValueOnce(by)
  // After the text was read.
  present.mockImplementationOnce(async () => {
    await call('DELETE', '/again')
    await call('POST', '', { name: 'again', type: 'scalable' })
    return by
  })
  await expect(platform().deployments.configure(present, 'again', { content })).rejects.toMatchObject({
    code: 'CONFLICT',
  })
  expect((await call('GET', '/again')).body.data.content).toContain('type: scalable')
})
