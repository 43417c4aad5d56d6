import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { useDeploymentCalls } from '../../support/platform/deploymentCalls'
import { canMount, mountReadOnly, unmount } from '../../support/platform/tmpfs'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const testWithMount = canMount ? test : test.skip
const outsideDirectory = useTemporaryDirectory()
const { platform, call, shareDir, contentOf, statesOf } = useDeploymentCalls()

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

testWithMount(
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

test.each([
  ['/.quarterdeck-a.part', 'INVALID_INPUT', 'dataDirectory: is a file of the platform itself'],
  ['/new/.quarterdeck-share/world', 'INVALID_INPUT', 'dataDirectory: is a file of the platform itself'],
  ['/%2e%2e', 'INVALID_INPUT', 'dataDirectory: must not contain . or .. segments'],
  ['/\\uD800', 'INVALID_DEFINITION', 'Line 4: dataDirectory: must be valid Unicode'],
])('a directory %s, whose files no call would accept, is refused and not created', async (path, code, message) => {
  await call('POST', '', { name: 'hidden', type: 'process' })
  const before = await readdir(shareDir())
  const content = (await contentOf('hidden')).replace('dataDirectory: /hidden', `dataDirectory: "${path}"`)
  expect(await call('PATCH', '/hidden', { content })).toMatchObject({
    status: 400,
    body: { code, field: 'dataDirectory', message },
  })
  expect(await readdir(shareDir())).toEqual(before)
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
  const lines = await platform().runtime.history(instance!.podName, 10)
  expect(lines.map((line) => line.content)).toContain(
    `[System] Blocked: ${message} Restart its deployment to try again.`,
  )
  expect(await call('DELETE', '/swapped')).toMatchObject({ status: 200 })
})

test('only the replica of the deleted deployment is removed from this machine', async () => {
  // Each replica contains one file that identifies it.
  const replicas = async () =>
    (await readdir(join(platform().dataDir, 'replica'), { recursive: true })).map((path) => basename(path))
  for (const name of ['staying', 'going']) {
    await call('POST', '', { name, type: 'scalable' })
    await writeFile(join(shareDir(), name, `of-${name}`), '')
  }
  await until(replicas, (files) => files.includes('of-staying') && files.includes('of-going'))
  expect(await call('DELETE', '/going')).toMatchObject({ status: 200 })
  await until(replicas, (files) => !files.includes('of-going'))
  expect(await replicas()).toContain('of-staying')
})
