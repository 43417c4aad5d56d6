import { readdir } from 'node:fs/promises'
import { sql } from 'kysely'
import { DeploymentsResponse } from '../../../src/contract/deployment'
import { useDeploymentCalls } from '../../support/platform/deploymentCalls'
import { until } from '../../support/platform/until'

const { platform, ann, call, shareDir, contentOf, statesOf } = useDeploymentCalls()

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
    Number(
      (await platform().call('GET', '/api/network/getManagerTimestamp', { token: ann().token })).body.data.timestamp,
    )
  const first = await beat()
  expect(Math.abs(Date.now() - first)).toBeLessThan(30_000)
  await until(beat, (timestamp) => timestamp > first)
  expect(await platform().call('GET', '/api/network/nodes', { token: ann().token })).toMatchObject({
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

test('§14 deployments created concurrently get a port each', async () => {
  const names = Array.from({ length: 10 }, (_, at) => `at-once-${at}`)
  await Promise.all(names.map((name) => call('POST', '', { name, type: 'scalable' })))
  const ports = (await Promise.all(names.map(contentOf))).map((content) => /port: (\d+)/.exec(content)![1])
  expect(new Set(ports).size).toBe(names.length)
  for (const name of names) await call('DELETE', `/${name}`)
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
  const discover = (query: string) => platform().call('GET', `/api/discovery${query}`, { token: ann().token })
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
  expect(await platform().call('GET', '/api/discovery?deployment=found')).toMatchObject({ status: 401 })
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
    platform().call('GET', '/api/deployments?instances=true', {
      token: ann().token,
      headers: { 'if-none-match': etag },
    })
  const first = await ask()
  expect(DeploymentsResponse.parse(first.body)).toEqual(first.body)
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

test('at most 500 deployments can exist, and a deletion makes room', async () => {
  const { length } = (await call('GET', '')).body.data.deployments as unknown[]
  await sql`insert into deployments (name, type, content, enabled) select 'many-' || n, 'process', '-', false from generate_series(1, ${500 - length}::int) n`.execute(
    platform().db,
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
