/**
 * A program with a client that is generated from the platform's description of its calls: `node walk.mjs URL ACCOUNT`.
 * `schema` is made from `GET /api/openapi.json` before this file is compiled, so the compiler checks that the description
 * fits what is called here. Prints what it did.
 */
import { strict as assert } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import createClient from 'openapi-fetch'
import type { components, paths } from './schema'

type Failure = components['schemas']['Failure']

interface Account {
  username: string
  password: string
  /** A one-time code that was not used yet. */
  code: string
}

const [url = '', account = ''] = process.argv.slice(2)
const { username, password, code } = JSON.parse(account) as Account
const client = createClient<paths>({ baseUrl: url })

/** The result of a call. @throws AssertionError if it failed */
function dataOf<Data>(answer: { data?: { data: Data } | undefined; error?: Failure | undefined }): Data {
  assert.equal(answer.error, undefined)
  assert(answer.data)
  return answer.data.data
}

async function signIn(): Promise<void> {
  const { sessionToken } = dataOf(await client.POST('/api/auth/login', { body: { username, password } }))
  const { token } = dataOf(
    await client.POST('/api/auth/verify-login', { body: { username, token: code, sessionToken } }),
  )
  client.use({ onRequest: ({ request }) => request.headers.set('authorization', `Bearer ${token}`) })
}

async function useDeployments(): Promise<void> {
  dataOf(await client.POST('/api/deployments', { body: { name: 'walk', type: 'process' } }))
  const { deployments } = dataOf(await client.GET('/api/deployments', { params: { query: { instances: 'true' } } }))
  const found = deployments.find(({ name }) => name === 'walk')
  assert.equal(found?.dataDirectory, '/walk')
  assert.deepEqual(found.instances, [])

  const named = { params: { path: { name: 'walk' } } }
  const read = dataOf(await client.GET('/api/deployments/{name}', named))
  const content = `${read.content.trimEnd()}\ndescription: Changed by a client\n`
  const saved = dataOf(
    await client.PATCH('/api/deployments/{name}', { ...named, body: { content, revision: read.revision } }),
  )
  assert.notEqual(saved.revision, read.revision)
  const refused = await client.PATCH('/api/deployments/{name}', {
    ...named,
    body: { content, revision: read.revision },
  })
  assert.equal(refused.error?.code, 'CONFLICT')
}

async function useInstances(): Promise<void> {
  const named = { params: { path: { name: 'walk' } } }
  const content =
    'name: walk\ntype: process\ndataDirectory: /walk\nrun:\n  command: [node, -e, "setInterval(() => {}, 1000)"]\n'
  dataOf(await client.PATCH('/api/deployments/{name}', { ...named, body: { content } }))
  dataOf(await client.POST('/api/deployments/{name}/toggle', { ...named, body: { enabled: true } }))
  const running = await untilInstances(([instance]) => instance?.state === 'RUNNING')
  dataOf(await client.POST('/api/deployments/{name}/restart', named))
  const restarted = await untilInstances(([instance]) => instance?.state === 'RUNNING')
  assert.equal(restarted[0]?.uid, running[0]?.uid)
  assert.notEqual(restarted[0]?.startedAt, running[0]?.startedAt)
  const of = { pod: restarted[0]?.podName ?? '' }
  dataOf(await client.GET('/api/metrics/memory', { params: { query: of } }))
  dataOf(await client.POST('/api/deployments/{name}/toggle', { ...named, body: { enabled: false } }))
  await untilInstances((instances) => instances.length === 0)
}

/** @throws AssertionError after 60 s */
async function untilInstances(isExpected: (instances: components['schemas']['Instance'][]) => boolean) {
  const named = { params: { path: { name: 'walk' } } }
  for (const deadline = Date.now() + 60_000; ; await delay(50)) {
    const { instances } = dataOf(await client.GET('/api/deployments/{name}/instances', named))
    if (isExpected(instances)) return instances
    assert(Date.now() < deadline, JSON.stringify(instances))
  }
}

/** A key of its own can do what its scope says. */
async function useKeys(): Promise<void> {
  const { key, info } = dataOf(
    await client.POST('/api/keys', { body: { name: 'of the walk', scopes: ['read'], deployments: ['walk'] } }),
  )
  const byKey = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${key}` } })
  assert.deepEqual(
    dataOf(await byKey.GET('/api/deployments')).deployments.map(({ name }) => name),
    ['walk'],
  )
  const refused = await byKey.POST('/api/deployments/{name}/restart', { params: { path: { name: 'walk' } } })
  assert.equal(refused.error?.code, 'NOT_ALLOWED')
  dataOf(await client.DELETE('/api/keys/{id}', { params: { path: { id: info.id } } }))
  assert.equal((await byKey.GET('/api/deployments')).error?.code, 'NO_SESSION')
}

async function useFiles(): Promise<void> {
  const directory = '/nfsshare/walk/plugins'
  dataOf(await client.POST('/api/sftp/directory', { body: { path: directory } }))
  dataOf(await client.POST('/api/sftp/file', { body: { path: `${directory}/a.txt`, content: '' } }))
  dataOf(await client.PATCH('/api/sftp/file/content', { body: { path: `${directory}/a.txt`, content: 'hello' } }))
  const at = (path: string) => ({ params: { query: { path } } })
  dataOf(
    await client.POST('/api/sftp/move', {
      body: { sourcePath: `${directory}/a.txt`, targetPath: `${directory}/b.txt` },
    }),
  )
  const { files } = dataOf(await client.GET('/api/sftp/files', at(directory)))
  assert.deepEqual(
    files.map(({ name, size }) => [name, size]),
    [['b.txt', 5]],
  )
  const form = new FormData()
  form.append('path', directory)
  form.append('files', new Blob(['from a form']), 'c.txt')
  const uploaded = dataOf(
    await client.POST('/api/sftp/upload', {
      // The form itself is sent; its fields are described.
      body: form as unknown as { path: string; files: string[] },
      bodySerializer: () => form,
    }),
  )
  assert.deepEqual(uploaded.files, [{ name: 'c.txt', path: `${directory}/c.txt` }])
  const { token } = dataOf(await client.POST('/api/sftp/download-ticket', { body: { path: `${directory}/c.txt` } }))
  const downloaded = await client.GET('/api/sftp/download', {
    params: { query: { path: `${directory}/c.txt`, token } },
    parseAs: 'text',
  })
  assert.equal(downloaded.data, 'from a form')
  dataOf(await client.DELETE('/api/sftp/file', at(`${directory}/b.txt`)))
  dataOf(await client.DELETE('/api/sftp/directory', at(directory)))
  const missing = await client.GET('/api/sftp/files', at(directory))
  assert.equal(missing.error?.code, 'NOT_FOUND')
}

async function useDatabases(): Promise<void> {
  const sql = { params: { path: { type: 'sql' as const } } }
  const made = dataOf(await client.POST('/api/database/{type}', { ...sql, body: { name: 'walk' } }))
  const { databases } = dataOf(await client.GET('/api/database/{type}', sql))
  assert.equal(databases.find(({ name }) => name === 'walk')?.credentials.password, made.credentials.password)
  dataOf(await client.DELETE('/api/database/{type}/{name}', { params: { path: { type: 'sql', name: 'walk' } } }))
}

async function signOut(): Promise<void> {
  const { sessions } = dataOf(await client.GET('/api/sessions'))
  assert.equal(sessions.filter(({ current }) => current).length, 1)
  dataOf(await client.DELETE('/api/deployments/{name}', { params: { path: { name: 'walk' } } }))
  dataOf(await client.POST('/api/auth/logout'))
  const after = await client.GET('/api/sessions')
  assert.equal(after.error?.code, 'NO_SESSION')
}

for (const step of [signIn, useDeployments, useInstances, useKeys, useFiles, useDatabases, signOut]) {
  await step()
  console.log(step.name)
}
