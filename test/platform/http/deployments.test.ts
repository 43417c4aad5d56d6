import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPlatform, type Account, type Answer, type TestPlatform } from '../../support/platform/startPlatform'
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
const contentOf = async (name: string) => String((await call('GET', `/${name}`)).body.data.content)
const statesOf = async (name: string) => ((await call('GET', `/${name}/instances`)).body.data.instances as { state: string }[]).map(({ state }) => state)

test.each([
  ['proxy', 0],
  ['persistent', 1],
  ['scalable', 2],
  ['process', 3],
] as const)('§7 a %s is created disabled, with its directory and a commented, valid YAML', async (type, typeIndex) => {
  const node = type === 'persistent' ? { node: 'node-a' } : {}
  expect(await call('POST', '', { name: `a-${type}`, type, ...node })).toMatchObject({ status: 201, body: { success: true } })
  const { data } = (await call('GET', '')).body
  expect(data.deployments).toContainEqual({ name: `a-${type}`, typeIndex, enabled: false, path: `/nfsshare/a-${type}`, dataDirectory: `/a-${type}` })
  expect(await readdir(shareDir())).toContain(`a-${type}`)
  const content = await contentOf(`a-${type}`)
  expect(content).toContain('#')
  expect(await call('PATCH', `/a-${type}`, { content })).toMatchObject({ status: 200 })
  expect(await contentOf(`a-${type}`)).toBe(content)
  expect(await statesOf(`a-${type}`)).toEqual([])
})

test('security 33: names that are no DNS label are 400 and name the field', async () => {
  for (const name of [';id', '--x', '..', 'a'.repeat(41), '', 'A', '$(id)', '../../etc', 'a/b', 'a\u0000']) {
    expect(await call('POST', '', { name, type: 'process' })).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', field: 'name' } })
  }
  expect(await call('POST', '', { name: 'x', type: 'pod' })).toMatchObject({ status: 400, body: { field: 'type' } })
  expect(await call('POST', '', { name: 'x', type: 'process', image: 'y' })).toMatchObject({ status: 400, body: { field: 'image' } })
})

test('§5 a persistent deployment needs a node that is there, others take none', async () => {
  expect(await call('POST', '', { name: 'world', type: 'persistent' })).toMatchObject({
    status: 400,
    body: { field: 'node', message: 'Please select a node for the persistent deployment' },
  })
  expect(await call('POST', '', { name: 'world', type: 'persistent', node: 'moon' })).toMatchObject({ status: 400, body: { field: 'node' } })
  expect(await call('POST', '', { name: 'bot', type: 'process', node: 'node-a' })).toMatchObject({ status: 400, body: { field: 'node' } })
})

test('a name that is taken and a second proxy are 409; of two creates at once one wins', async () => {
  expect(await call('POST', '', { name: 'a-process', type: 'process' })).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN', message: 'A deployment named "a-process" already exists.' } })
  expect(await call('POST', '', { name: 'another', type: 'proxy' })).toMatchObject({ status: 409, body: { code: 'CONFLICT', message: 'There is a proxy already, and a network has one.' } })
  const both = await Promise.all([1, 2].map(() => call('POST', '', { name: 'raced', type: 'process' })))
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
})

test('decisions §4: an invalid text is 400 with line and field, and the stored text stays', async () => {
  const before = await contentOf('a-process')
  const wrong = before.replace('timeoutSeconds', 'timeoutSeconds').replace('dataDirectory: /a-process', 'dataDirectory: /../etc')
  expect(await call('PATCH', '/a-process', { content: wrong })).toMatchObject({ status: 400, body: { code: 'INVALID_DEFINITION', field: 'dataDirectory', line: 4 } })
  expect(await call('PATCH', '/a-process', { content: 'name: [' })).toMatchObject({ status: 400, body: { code: 'INVALID_DEFINITION', line: 1 } })
  expect(await call('PATCH', '/a-process', { content: before.replace('name: a-process', 'name: b-process') })).toMatchObject({ status: 400, body: { field: 'name', line: 1 } })
  expect(await call('PATCH', '/a-process', { content: before.replace('type: process', 'type: scalable') })).toMatchObject({ status: 400, body: { field: 'type', line: 2 } })
  expect(await contentOf('a-process')).toBe(before)
})

test('decisions §4: comments and the order of keys survive', async () => {
  const content = '# mine\nrun: { command: ["node", "-e", "setInterval(() => {}, 1000)"] } # why\ntype: process\ndataDirectory: /a-process\nname: a-process\nstop: { timeoutSeconds: 1 }\n\n# the end'
  expect(await call('PATCH', '/a-process', { content })).toMatchObject({ status: 200 })
  expect(await contentOf('a-process')).toBe(content)
})

test('security 31: bombs are 400, and the platform goes on', async () => {
  for (const content of ['['.repeat(10_000), `${'- '.repeat(10_000)}x`, 'a: !!js/function "x"', '__proto__: {a: 1}\nname: x', 'x'.repeat(200_000)]) {
    expect(await call('PATCH', '/a-process', { content })).toMatchObject({ status: 400 })
  }
  expect(await platform.call('GET', '/api/health')).toMatchObject({ status: 200 })
})

test('§7 toggle, restart and delete do what they say', async () => {
  expect(await call('POST', '/a-process/restart')).toMatchObject({ status: 409, body: { message: 'The deployment "a-process" is disabled. Enable it to start it.' } })
  expect(await call('POST', '/a-process/toggle', { enabled: true })).toMatchObject({ status: 200 })
  await until(() => statesOf('a-process'), (states) => states[0] === 'RUNNING')
  expect(await call('POST', '/a-process/restart')).toMatchObject({ status: 200 })
  expect(await statesOf('a-process')).toEqual(['RUNNING'])
  expect(await call('POST', '/a-process/toggle', { enabled: 'yes' })).toMatchObject({ status: 400, body: { field: 'enabled' } })
  expect(await call('DELETE', '/a-process')).toMatchObject({ status: 200 })
  expect(await call('GET', '/a-process')).toMatchObject({ status: 404 })
  expect(await platform.runtime.list()).toEqual([])
  expect(await readdir(shareDir())).toContain('a-process')
})

test('every call for a name that is not there is 404', async () => {
  for (const [method, path, body] of [['GET', ''], ['PATCH', '', { content: 'x: 1' }], ['DELETE', ''], ['GET', '/instances'], ['POST', '/toggle', { enabled: true }], ['POST', '/restart']] as const) {
    expect(await call(method, `/nothing${path}`, body)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND', message: 'There is no deployment named "nothing".' } })
  }
})

test('a directory that a link leads out of the share is not used', async () => {
  const outside = join(tmpdir(), `outside-${process.pid}`)
  await mkdir(outside, { recursive: true })
  await symlink(outside, join(shareDir(), 'escape'))
  const refused = { status: 409, body: { message: 'The directory /nfsshare/escape leads out of the shared area.' } }
  expect(await call('POST', '', { name: 'escape', type: 'process' })).toMatchObject(refused)
  expect(await call('GET', '/escape')).toMatchObject({ status: 404 })
  await call('POST', '', { name: 'careful', type: 'process' })
  const content = (await contentOf('careful')).replace('dataDirectory: /careful', 'dataDirectory: /escape/made/by/us')
  expect(await call('PATCH', '/careful', { content })).toMatchObject({ status: 409 })
  expect(await readdir(outside)).toEqual([])
})

test('a file in the place of the directory is a conflict, and leaves no deployment behind', async () => {
  await writeFile(join(shareDir(), 'taken'), '')
  expect(await call('POST', '', { name: 'taken', type: 'process' })).toMatchObject({ status: 409, body: { message: 'In the place of the directory /nfsshare/taken there is a file.' } })
  expect(await call('GET', '/taken')).toMatchObject({ status: 404 })
})
