import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { sql } from 'kysely'
import { DeploymentsAnswer } from '../../../src/contract/deployment'
import { limitWarnings } from '../../../src/platform/deployments/limitWarnings'
import { createPower } from '../../../src/platform/deployments/power'
import { lockOwner } from '../../../src/platform/processLock'
import { startPlatform, type Account, type Answer, type TestPlatform } from '../../support/platform/startPlatform'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { canMount, mountReadOnly, unmount } from '../../support/platform/tmpfs'
import { until } from '../../support/platform/until'

let platform: TestPlatform
let ann: Account

beforeAll(async () => {
  platform = await startPlatform()
  ann = await platform.register('ann')
})
afterAll(() => platform.close())

const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer> =>
  platform.call(method, `/api/deployments${path}`, { body, token: ann.token })
const shareDir = () => join(platform.dataDir, 'nfsshare')
const outsideDirectory = useTemporaryDirectory()
const contentOf = async (name: string) => String((await call('GET', `/${name}`)).body.data.content)
const statesOf = async (name: string) =>
  ((await call('GET', `/${name}/instances`)).body.data.instances as { state: string }[]).map(({ state }) => state)

test.each([
  ['proxy', 0],
  ['persistent', 1],
  ['scalable', 2],
  ['process', 3],
] as const)('§7 a %s is created disabled, with its directory and a commented, valid YAML', async (type, typeIndex) => {
  const node = type === 'persistent' ? { node: 'node-a' } : {}
  expect(await call('POST', '', { name: `a-${type}`, type, ...node })).toMatchObject({
    status: 201,
    body: { success: true },
  })
  const { data } = (await call('GET', '')).body
  expect(data.deployments).toContainEqual({
    name: `a-${type}`,
    typeIndex,
    enabled: false,
    path: `/nfsshare/a-${type}`,
    dataDirectory: `/a-${type}`,
  })
  expect(await readdir(shareDir())).toContain(`a-${type}`)
  const content = await contentOf(`a-${type}`)
  expect(content).toContain('#')
  expect(await call('PATCH', `/a-${type}`, { content })).toMatchObject({ status: 200 })
  expect(await contentOf(`a-${type}`)).toBe(content)
  expect(await statesOf(`a-${type}`)).toEqual([])
})

test('§7 getManagerTimestamp returns the last heartbeat of the manager, and nodes returns the nodes', async () => {
  const beat = async () =>
    Number((await platform.call('GET', '/api/network/getManagerTimestamp', { token: ann.token })).body.data.timestamp)
  const first = await beat()
  expect(Math.abs(Date.now() - first)).toBeLessThan(30_000)
  await until(beat, (timestamp) => timestamp > first)
  expect(await platform.call('GET', '/api/network/nodes', { token: ann.token })).toMatchObject({
    status: 200,
    body: { data: { nodes: ['node-a'] } },
  })
})

test('security 33: names that are not DNS labels get 400 and name the field', async () => {
  for (const name of [';id', '--x', '..', 'a'.repeat(41), '', 'A', '$(id)', '../../etc', 'a/b', 'a\u0000']) {
    expect(await call('POST', '', { name, type: 'process' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', field: 'name' },
    })
  }
  expect(await call('POST', '', { name: 'x', type: 'pod' })).toMatchObject({ status: 400, body: { field: 'type' } })
  expect(await call('POST', '', { name: 'x', type: 'process', image: 'y' })).toMatchObject({
    status: 400,
    body: { field: 'image' },
  })
})

test('§5 a persistent deployment needs an existing node; other types take none', async () => {
  expect(await call('POST', '', { name: 'world', type: 'persistent' })).toMatchObject({
    status: 400,
    body: { field: 'node', message: 'Please select a node for the persistent deployment' },
  })
  expect(await call('POST', '', { name: 'world', type: 'persistent', node: 'moon' })).toMatchObject({
    status: 400,
    body: { field: 'node' },
  })
  expect(await call('POST', '', { name: 'bot', type: 'process', node: 'node-a' })).toMatchObject({
    status: 400,
    body: { field: 'node' },
  })
})

test('an existing name and a second proxy get 409; one of two concurrent creates succeeds', async () => {
  expect(await call('POST', '', { name: 'a-process', type: 'process' })).toMatchObject({
    status: 409,
    body: { code: 'NAME_TAKEN', message: 'A deployment named "a-process" already exists.' },
  })
  expect(await call('POST', '', { name: 'another', type: 'proxy' })).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', message: 'There is already a proxy, and a network can have only one.' },
  })
  const both = await Promise.all([1, 2].map(() => call('POST', '', { name: 'raced', type: 'process' })))
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
})

test('decisions §4: an invalid text gets 400 with line and field, and the stored text stays', async () => {
  const before = await contentOf('a-process')
  const wrong = before
    .replace('timeoutSeconds', 'timeoutSeconds')
    .replace('dataDirectory: /a-process', 'dataDirectory: /../etc')
  expect(await call('PATCH', '/a-process', { content: wrong })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_DEFINITION', field: 'dataDirectory', line: 4 },
  })
  expect(await call('PATCH', '/a-process', { content: 'name: [' })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_DEFINITION', line: 1 },
  })
  expect(
    await call('PATCH', '/a-process', { content: before.replace('name: a-process', 'name: b-process') }),
  ).toMatchObject({ status: 400, body: { field: 'name', line: 1 } })
  expect(
    await call('PATCH', '/a-process', { content: before.replace('type: process', 'type: scalable') }),
  ).toMatchObject({ status: 400, body: { field: 'type', line: 2 } })
  expect(await contentOf('a-process')).toBe(before)
})

test('decisions §4: comments and the order of keys are kept', async () => {
  const content =
    '# mine\nrun: { command: ["node", "-e", "setInterval(() => {}, 1000)"] } # why\ntype: process\ndataDirectory: /a-process\nname: a-process\nstop: { timeoutSeconds: 1 }\n\n# the end'
  expect(await call('PATCH', '/a-process', { content })).toMatchObject({ status: 200 })
  expect(await contentOf('a-process')).toBe(content)
})

test('a save of an outdated text gets 409 and changes nothing; without a revision the check is skipped (product §7)', async () => {
  await call('POST', '', { name: 'shared', type: 'process' })
  const opened = (await call('GET', '/shared')).body.data as { content: string; revision: string }
  const first = await call('PATCH', '/shared', { content: `${opened.content}# first\n`, revision: opened.revision })
  expect(first).toMatchObject({ status: 200 })
  expect(
    await call('PATCH', '/shared', { content: `${opened.content}# second\n`, revision: opened.revision }),
  ).toMatchObject({
    status: 409,
    body: {
      code: 'CONFLICT',
      field: 'revision',
      message: 'The configuration of "shared" was changed since it was opened. Nothing was saved.',
    },
  })
  expect((await call('GET', '/shared')).body.data).toEqual({
    content: `${opened.content}# first\n`,
    revision: first.body.data.revision,
  })
  expect(
    await call('PATCH', '/shared', { content: `${opened.content}# third\n`, revision: first.body.data.revision }),
  ).toMatchObject({ status: 200 })
  expect(await call('PATCH', '/shared', { content: opened.content })).toMatchObject({ status: 200 })
  expect((await call('GET', '/shared')).body.data).toEqual(opened)
})

test('§12 limits that are not enforced are reported with the text, with its save and with its instances', async () => {
  // Simulates a runtime that cannot enforce all limits.
  const replaced = [
    jest.replaceProperty(platform.runtime, 'enforced', { cpu: false, memory: true }),
    jest.replaceProperty(platform.runtime, 'limits', 'memory by prlimit'),
  ]
  const unlimited =
    'name: limited\ntype: process\ndataDirectory: /limited\nrun: { command: [node, -e, "setInterval(() => {}, 1000)"] }\nstop: { timeoutSeconds: 1 }\n'
  const warnings = ['resources.cpu (500m) is not enforced on this machine. Limits here: memory by prlimit.']
  const warningsOf = async () =>
    ((await call('GET', '/limited/instances')).body.data.instances as { warnings?: string[] }[]).map(
      (instance) => instance.warnings,
    )
  await call('POST', '', { name: 'limited', type: 'process' })
  expect(
    (await call('PATCH', '/limited', { content: `${unlimited}resources: { cpu: 500m, memory: 1Gi }\n` })).body.data,
  ).toMatchObject({ warnings })
  expect((await call('GET', '/limited')).body.data).toMatchObject({ warnings })
  await call('POST', '/limited/toggle', { enabled: true })
  await until(async () => (await warningsOf()).length === 1)
  expect(await warningsOf()).toEqual([warnings])
  expect((await call('PATCH', '/limited', { content: unlimited })).body.data).toMatchObject({ warnings: [] })
  expect(await warningsOf()).toEqual([undefined])
  await call('DELETE', '/limited')
  for (const property of replaced) property.restore()
})

test.each([
  ['no limits', undefined, { cpu: false, memory: false }, 'not enforced: why', []],
  [
    'limits that are enforced',
    { cpu: '1', memory: '1Gi' },
    { cpu: true, memory: true },
    'CPU and memory by cgroup v2',
    [],
  ],
  [
    'limits that are not enforced',
    { cpu: '1', memory: '1Gi' },
    { cpu: false, memory: false },
    'not enforced: cgroups are not writable here',
    [
      'resources.cpu (1) is not enforced on this machine: cgroups are not writable here.',
      'resources.memory (1Gi) is not enforced on this machine: cgroups are not writable here.',
    ],
  ],
])('§12 the warnings about %s', (_case, resources, enforced, limits, told) => {
  expect(limitWarnings({ resources }, { enforced, limits })).toEqual(told)
})

test('§14 a save reports ports of other deployments, and a new deployment gets its own port', async () => {
  for (const name of ['port-a', 'port-b']) await call('POST', '', { name, type: 'persistent', node: 'node-a' })
  const [one, two] = await Promise.all(['port-a', 'port-b'].map(contentOf))
  const portIn = (content: string) => Number(/port: (\d+)/.exec(content)![1])
  expect(portIn(two!)).toBe(portIn(one!) + 1)
  // Depending on the machine, there are warnings about limits too.
  const portWarningsOf = ({ body }: Answer) =>
    (body.data.warnings as string[]).filter((warning) => warning.startsWith('run.port'))
  expect(portWarningsOf(await call('PATCH', '/port-b', { content: two }))).toEqual([])
  const same = two!.replace(String(portIn(two!)), String(portIn(one!)))
  const saved = await call('PATCH', '/port-b', { content: same })
  expect(saved.status).toBe(200)
  expect(portWarningsOf(saved)).toEqual([expect.stringContaining('of the deployment "port-a"')])
  expect(await contentOf('port-b')).toBe(same)
  const far =
    'name: far\ntype: scalable\ndataDirectory: /far\nrun: { jar: a.jar, port: 65535 }\ninstances: { min: 1, max: 2 }\n'
  await call('POST', '', { name: 'far', type: 'scalable' })
  expect(await call('PATCH', '/far', { content: far })).toMatchObject({
    status: 400,
    body: { field: 'run.port', line: 4 },
  })
  for (const name of ['port-a', 'port-b', 'far']) await call('DELETE', `/${name}`)
})

test('§14 deployments created concurrently get a port each', async () => {
  const names = Array.from({ length: 10 }, (_, at) => `at-once-${at}`)
  await Promise.all(names.map((name) => call('POST', '', { name, type: 'scalable' })))
  const ports = (await Promise.all(names.map(contentOf))).map((content) => /port: (\d+)/.exec(content)![1])
  expect(new Set(ports).size).toBe(names.length)
  for (const name of names) await call('DELETE', `/${name}`)
})

test('exactly one of several concurrent saves of one text is stored', async () => {
  await call('POST', '', { name: 'raced-save', type: 'process' })
  const { content, revision } = (await call('GET', '/raced-save')).body.data as { content: string; revision: string }
  const saves = await Promise.all(
    [1, 2, 3, 4].map((at) => call('PATCH', '/raced-save', { content: `${content}# ${at}\n`, revision })),
  )
  expect(saves.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  const winner = saves.findIndex(({ status }) => status === 200) + 1
  expect(await contentOf('raced-save')).toBe(`${content}# ${winner}\n`)
})

test('security 31: bombs get 400, and the platform keeps serving', async () => {
  for (const content of [
    '['.repeat(10_000),
    `${'- '.repeat(10_000)}x`,
    'a: !!js/function "x"',
    '__proto__: {a: 1}\nname: x',
    'x'.repeat(200_000),
  ]) {
    expect(await call('PATCH', '/a-process', { content })).toMatchObject({ status: 400 })
  }
  expect(await platform.call('GET', '/api/health')).toMatchObject({ status: 200 })
})

test('§7 toggles, restarts and deletes a deployment', async () => {
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
  expect(await platform.runtime.list()).toEqual([])
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
  const power = createPower({ db: platform.db, runtime: platform.runtime, wake: () => undefined })
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
  await platform.db
    .updateTable('instances')
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
  const pid = lockOwner(join(platform.dataDir, 'runtime/instances.lock'))!
  // Stopped first, so that it cannot answer before it is killed.
  process.kill(pid, 'SIGSTOP')
  // The manager lists instances too.
  const ours = new AsyncLocalStorage<true>()
  const list = platform.runtime.list.bind(platform.runtime)
  let hasAsked = false
  const spy = jest.spyOn(platform.runtime, 'list').mockImplementation(() => {
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
  const asked = platform.deployments.remove('slow-end', gone.signal)
  gone.abort(new Error('hung up'))
  await expect(asked).rejects.toThrow('hung up')
  expect(await call('GET', '/slow-end')).toMatchObject({ status: 200 })
  await until(
    () => call('GET', '/slow-end'),
    ({ status }) => status === 404,
  )
})

test('§14 discovery returns the instances of the named deployments to signed-in users', async () => {
  const content =
    'name: found\ntype: process\ndataDirectory: /found\nrun: { command: ["node", "-e", "setInterval(() => {}, 1000)"] }\nstop: { timeoutSeconds: 1 }\n'
  await call('POST', '', { name: 'found', type: 'process' })
  expect(await call('PATCH', '/found', { content })).toMatchObject({ status: 200 })
  await call('POST', '/found/toggle', { enabled: true })
  await until(
    () => statesOf('found'),
    (states) => states[0] === 'RUNNING',
  )
  const discover = (query: string) => platform.call('GET', `/api/discovery${query}`, { token: ann.token })
  const peer = {
    podName: expect.stringMatching(/^found-/) as string,
    ip: '127.0.0.1',
    port: null,
    state: 'RUNNING',
    players: null,
    draining: false,
  }
  expect((await discover('?deployment=found')).body.data).toEqual({ deployments: { found: [peer] } })
  expect((await discover('?deployment=found&deployment=nothing')).body.data).toEqual({
    deployments: { found: [peer], nothing: [] },
  })
  for (const query of ['', '?deployment=', '?deployment=__proto__', '?other=1'])
    expect(await discover(query)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
  expect(await platform.call('GET', '/api/discovery?deployment=found')).toMatchObject({ status: 401 })
  expect(await call('DELETE', '/found')).toMatchObject({ status: 200 })
})

test('the list contains the instances of each deployment only if the request asks for them', async () => {
  const content =
    'name: listed\ntype: process\ndataDirectory: /listed\nrun: { command: ["node", "-e", "setInterval(() => {}, 1000)"] }\nstop: { timeoutSeconds: 1 }\n'
  await call('POST', '', { name: 'listed', type: 'process' })
  await call('POST', '', { name: 'unused', type: 'process' })
  expect(await call('PATCH', '/listed', { content })).toMatchObject({ status: 200 })
  await call('POST', '/listed/toggle', { enabled: true })
  await until(
    () => statesOf('listed'),
    (states) => states[0] === 'RUNNING',
  )
  type Listed = { name: string; instances?: { uid: string; state: string }[] }[]
  const deploymentsOf = async (query: string) => (await call('GET', query)).body.data.deployments as Listed
  const [{ uid } = { uid: '' }] = (await call('GET', '/listed/instances')).body.data.instances as { uid: string }[]
  const listed = await deploymentsOf('?instances=true')
  expect(listed.find(({ name }) => name === 'listed')?.instances).toMatchObject([{ uid, state: 'RUNNING' }])
  expect(listed.find(({ name }) => name === 'unused')?.instances).toEqual([])
  expect((await deploymentsOf('')).flatMap(({ instances = [] }) => instances)).toEqual([])
  expect(await call('GET', '?instances=perhaps')).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
  for (const name of ['listed', 'unused']) expect(await call('DELETE', `/${name}`)).toMatchObject({ status: 200 })
})

test('a client that has the current overview gets 304, until a call to this replica may have changed something', async () => {
  await call('POST', '', { name: 'seen', type: 'process' })
  const ask = (etag = '') =>
    platform.call('GET', '/api/deployments?instances=true', {
      token: ann.token,
      headers: { 'if-none-match': etag },
    })
  const first = await ask()
  expect(DeploymentsAnswer.parse(first.body)).toEqual(first.body)
  expect(first.body.data).toMatchObject({ managerSilent: false })
  const unchanged = await ask(String(first.headers.etag))
  expect(unchanged).toMatchObject({ status: 304, headers: { etag: first.headers.etag } })
  const header = Object.entries(unchanged.headers)
    .filter(([name]) => name !== 'connection')
    .map(([name, value]) => `${name}: ${String(value)}\r\n`)
  // And those of a connection that stays open.
  const more = 'HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\nKeep-Alive: timeout=72\r\n\r\n'
  expect(header.join('').length + more.length).toBeLessThanOrEqual(300)
  await call('DELETE', '/seen')
  const changed = await ask(String(first.headers.etag))
  expect(changed.status).toBe(200)
  expect((changed.body.data.deployments as { name: string }[]).map(({ name }) => name)).not.toContain('seen')
})

test('every call for an unknown name gets 404', async () => {
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', { content: 'x: 1' }],
    ['DELETE', ''],
    ['GET', '/instances'],
    ['POST', '/toggle', { enabled: true }],
    ['POST', '/restart'],
  ] as const) {
    expect(await call(method, `/nothing${path}`, body)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', message: 'There is no deployment named "nothing".' },
    })
  }
})

test('a directory that a link leads out of the share is refused', async () => {
  const outside = join(outsideDirectory(), 'empty')
  await mkdir(outside)
  await symlink(outside, join(shareDir(), 'escape'))
  const refused = { status: 409, body: { message: 'The directory /nfsshare/escape leads out of the shared area.' } }
  expect(await call('POST', '', { name: 'escape', type: 'process' })).toMatchObject(refused)
  expect(await call('GET', '/escape')).toMatchObject({ status: 404 })
  await call('POST', '', { name: 'careful', type: 'process' })
  const content = (await contentOf('careful')).replace('dataDirectory: /careful', 'dataDirectory: /escape/made/by/us')
  expect(await call('PATCH', '/careful', { content })).toMatchObject({ status: 409 })
  expect(await readdir(outside)).toEqual([])
})

test('a file in place of the directory is a conflict, and no deployment is created', async () => {
  await writeFile(join(shareDir(), 'taken'), '')
  expect(await call('POST', '', { name: 'taken', type: 'process' })).toMatchObject({
    status: 409,
    body: { message: '/nfsshare/taken is a file. The deployment needs a directory there.' },
  })
  expect(await call('GET', '/taken')).toMatchObject({ status: 404 })
})

;(canMount ? test : test.skip)(
  'security 123: while the shared area is mounted read-only, a deployment cannot get a new directory, and the error names the reason',
  async () => {
    const refused = { status: 409, body: { code: 'CONFLICT', message: 'The shared area is mounted read-only.' } }
    await call('POST', '', { name: 'settled', type: 'process' })
    const content = await contentOf('settled')
    mountReadOnly(shareDir())
    try {
      expect(await call('POST', '', { name: 'unsettled', type: 'process' })).toMatchObject(refused)
      const moved = content.replace('dataDirectory: /settled', 'dataDirectory: /elsewhere')
      expect(await call('PATCH', '/settled', { content: moved })).toMatchObject(refused)
      expect(await contentOf('settled')).toBe(content)
    } finally {
      unmount(shareDir())
    }
    expect(await call('POST', '', { name: 'unsettled', type: 'process' })).toMatchObject({ status: 201 })
  },
)

test('a deployment with an invalid stored text is listed with the problem, and can be repaired or deleted', async () => {
  const store = (name: string) =>
    platform.db
      .insertInto('deployments')
      .values({ name, type: 'scalable', content: 'name: [old', enabled: true })
      .execute()
  await store('unreadable')
  await call('POST', '', { name: 'beside', type: 'process' })
  const { status, body } = await call('GET', '')
  expect(status).toBe(200)
  const listed = body.data.deployments as { name: string }[]
  expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(['unreadable', 'beside']))
  expect(listed.find(({ name }) => name === 'unreadable')).toMatchObject({
    typeIndex: 2,
    enabled: false,
    path: '/nfsshare/unreadable',
    dataDirectory: '/unreadable',
    description: expect.stringMatching(/^Its configuration is not valid: Line 1: /),
  })
  expect(await call('GET', '/unreadable/instances')).toMatchObject({ status: 200, body: { data: { instances: [] } } })
  expect(await contentOf('unreadable')).toBe('name: [old')
  for (const [path, sent] of [
    ['toggle', { enabled: true }],
    ['restart', undefined],
  ] as const) {
    expect(await call('POST', `/unreadable/${path}`, sent)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_DEFINITION', line: 1 },
    })
  }
  const content = 'name: unreadable\ntype: scalable\ndataDirectory: /unreadable\nrun: { command: [x] }\n'
  expect(await call('PATCH', '/unreadable', { content })).toMatchObject({ status: 200 })
  expect((await call('GET', '')).body.data.deployments).toContainEqual({
    name: 'unreadable',
    typeIndex: 2,
    enabled: true,
    path: '/nfsshare/unreadable',
    dataDirectory: '/unreadable',
  })
  await store('unreadable-too')
  for (const name of ['unreadable', 'unreadable-too'])
    expect(await call('DELETE', `/${name}`)).toMatchObject({ status: 200 })
})

test('a directory replaced by a link out of the share is not used: a restart is refused, and a start reports it', async () => {
  const outside = join(outsideDirectory(), 'later')
  await mkdir(outside)
  await writeFile(join(outside, 'secret.txt'), 'not for instances')
  await call('POST', '', { name: 'swapped', type: 'process' })
  const content =
    'name: swapped\ntype: process\ndataDirectory: /swapped\nrun: { command: ["node", "-e", "setInterval(() => {}, 1000)"] }\nstop: { timeoutSeconds: 1 }\n'
  expect(await call('PATCH', '/swapped', { content })).toMatchObject({ status: 200 })
  await call('POST', '/swapped/toggle', { enabled: true })
  await until(
    () => statesOf('swapped'),
    (states) => states[0] === 'RUNNING',
  )

  await rename(join(shareDir(), 'swapped'), join(shareDir(), 'swapped-before'))
  await symlink(outside, join(shareDir(), 'swapped'))
  const message = 'The directory /nfsshare/swapped leads out of the shared area.'
  expect(await call('POST', '/swapped/restart')).toMatchObject({ status: 409, body: { code: 'CONFLICT', message } })
  expect(await statesOf('swapped')).toEqual(['RUNNING'])

  await call('POST', '/swapped/toggle', { enabled: false })
  await until(
    () => statesOf('swapped'),
    (states) => states.length === 0,
  )
  await call('POST', '/swapped/toggle', { enabled: true })
  await until(
    () => statesOf('swapped'),
    (states) => states[0] === 'BLOCKED',
  )
  const [instance] = (await call('GET', '/swapped/instances')).body.data.instances as {
    podName: string
    blockedReason: string
  }[]
  expect(instance!.blockedReason).toBe(message)
  const lines = await platform.runtime.history(instance!.podName, 10)
  expect(lines.map((line) => line.content)).toContain(
    `[System] Blocked: ${message} Restart its deployment to try again.`,
  )
  expect(await call('DELETE', '/swapped')).toMatchObject({ status: 200 })
})

test('only the replica of the deleted deployment is removed from this machine', async () => {
  // Each replica contains one file that identifies it.
  const replicas = async () =>
    (await readdir(join(platform.dataDir, 'replica'), { recursive: true })).map((path) => basename(path))
  for (const name of ['staying', 'going']) {
    await call('POST', '', { name, type: 'scalable' })
    await writeFile(join(shareDir(), name, `of-${name}`), '')
  }
  await until(replicas, (files) => files.includes('of-staying') && files.includes('of-going'))
  expect(await call('DELETE', '/going')).toMatchObject({ status: 200 })
  await until(replicas, (files) => !files.includes('of-going'))
  expect(await replicas()).toContain('of-staying')
})

test('at most 500 deployments can exist, and a deletion makes room', async () => {
  const { length } = (await call('GET', '')).body.data.deployments as unknown[]
  await sql`insert into deployments (name, type, content, enabled) select 'many-' || n, 'process', '-', false from generate_series(1, ${500 - length}::int) n`.execute(
    platform.db,
  )
  expect(await call('POST', '', { name: 'one-more', type: 'process' })).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('500 deployments') as unknown },
  })
  expect(await readdir(shareDir())).not.toContain('one-more')
  expect(await call('DELETE', '/many-1')).toMatchObject({ status: 200 })
  const atOnce = await Promise.all(
    ['one-more', 'two-more', 'three-more'].map((name) => call('POST', '', { name, type: 'process' })),
  )
  expect(atOnce.map(({ status }) => status).sort()).toEqual([201, 409, 409])
})
