import { directoryWarnings } from '../../../src/platform/deployments/directoryWarnings'
import { limitWarnings } from '../../../src/platform/deployments/limitWarnings'
import { useDeploymentCalls } from '../../support/platform/deploymentCalls'
import type { Answer } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, call, contentOf } = useDeploymentCalls()

beforeAll(async () => {
  await call('POST', '', { name: 'a-process', type: 'process' })
})

test('decisions §4: an invalid text gets 400 with line and field, and the stored text stays', async () => {
  const before = await contentOf('a-process')
  const wrong = before.replace('dataDirectory: /a-process', 'dataDirectory: /../etc')
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

test('security 203: a directory within that of another deployment is reported with the text and with its save', async () => {
  const textOf = (name: string, dataDirectory: string) =>
    `name: ${name}\ntype: process\ndataDirectory: ${dataDirectory}\nrun: { command: [cat] }\n`
  for (const name of ['outer', 'inner', 'outermost']) await call('POST', '', { name, type: 'process' })
  const inner = textOf('inner', '/outer/sub/inner')
  const warningsOf = async (name: string, content: string) =>
    (await call('PATCH', `/${name}`, { content })).body.data.warnings
  expect(await warningsOf('outer', textOf('outer', '/outer'))).toEqual([])
  expect(await warningsOf('inner', inner)).toEqual([
    'dataDirectory: /outer/sub/inner lies in the directory of the deployment "outer", whose instances can read and change its files.',
  ])
  expect((await call('GET', '/outer')).body.data.warnings).toEqual([
    'dataDirectory: /outer holds the directory of the deployment "inner", whose files the instances of this one can read and change.',
  ])
  expect(await warningsOf('outermost', textOf('outermost', '/outer'))).toContain(
    'dataDirectory: /outer is also the directory of the deployment "outer": the instances of both use its files.',
  )
  const definition = { name: 'inner', dataDirectory: '/outer/sub/inner' }
  expect(directoryWarnings(definition, [{ name: 'outer', dataDirectory: '/outer' }], () => false)).toEqual([
    'dataDirectory: /outer/sub/inner lies in the directory of another deployment, whose instances can read and change its files.',
  ])
})

test('§12 limits that are not enforced are reported with the text, with its save and with its instances', async () => {
  // Simulates a runtime that cannot enforce all limits.
  const replaced = [
    jest.replaceProperty(platform().runtime, 'enforced', { cpu: false, memory: true }),
    jest.replaceProperty(platform().runtime, 'limits', 'memory by prlimit'),
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
])('§12 the warnings about %s', (_case, resources, enforced, limits, expected) => {
  expect(limitWarnings({ resources }, { enforced, limits })).toEqual(expected)
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
  expect(await platform().call('GET', '/api/health')).toMatchObject({ status: 200 })
})

test('a deployment with an invalid stored text is listed with the problem, and can be repaired or deleted', async () => {
  const store = (name: string) =>
    platform()
      .db.insertInto('deployments')
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
