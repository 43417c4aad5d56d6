import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { useDeploymentCalls } from '../../support/platform/deploymentCalls'
import { until } from '../../support/platform/until'

const { call, shareDir } = useDeploymentCalls()

beforeAll(async () => {
  for (const name of ['own', 'treasure']) await call('POST', '', { name, type: 'process' })
  // An instance of `own` can make these, whose data directory it is.
  await symlink('../treasure', join(shareDir(), 'own/relative'))
  await symlink(join(shareDir(), 'treasure'), join(shareDir(), 'own/absolute'))
})

const definition = (name: string, more: string) =>
  `name: ${name}\ntype: process\nrun: { command: ["node", "-e", "setInterval(() => {}, 1000)"] }\nstop: { timeoutSeconds: 1 }\n${more}`
const messageOf = (path: string) =>
  `A link in /nfsshare/own/${path} leads out of the directory of its deployment. Replace it by a directory.`

async function firstInstance(name: string) {
  const { instances } = (await call('GET', `/${name}/instances`)).body.data
  return (instances as { state: string; blockedReason?: string; startedAt?: number }[])[0]
}

test.each(['relative', 'absolute'])(
  'security 99: an instance is not given the directory of another deployment by a link in its own (%s)',
  async (link) => {
    const content = definition('own', `dataDirectory: /own\nmounts: ["/own/${link}"]\n`)
    expect(await call('PATCH', '/own', { content })).toMatchObject({ status: 200 })
    await call('POST', '/own/toggle', { enabled: true })
    expect(
      await until(
        async () => (await firstInstance('own'))?.state,
        (state) => state === 'BLOCKED' || state === 'RUNNING',
      ),
    ).toBe('BLOCKED')
    expect((await firstInstance('own'))?.blockedReason).toBe(messageOf(link))
    await call('POST', '/own/toggle', { enabled: false })
    await until(async () => (await firstInstance('own')) === undefined)
  },
)

test.each(['relative', 'absolute'])(
  'security 99: a data directory that is such a link is refused with the reason (%s)',
  async (link) => {
    await call('POST', '', { name: link, type: 'process' })
    const content = definition(link, `dataDirectory: /own/${link}\n`)
    expect(await call('PATCH', `/${link}`, { content })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', message: messageOf(link) },
    })
  },
)

test('a link of an operator beside the directories of deployments may lead to one', async () => {
  await symlink('treasure', join(shareDir(), 'alias'))
  await call('POST', '', { name: 'linked', type: 'process' })
  const content = definition('linked', 'dataDirectory: /alias\n')
  expect(await call('PATCH', '/linked', { content })).toMatchObject({ status: 200 })
})

test('a link may lead to another place in its own directory', async () => {
  await mkdir(join(shareDir(), 'own/maps'))
  await symlink('maps', join(shareDir(), 'own/current'))
  const content = definition('own', 'dataDirectory: /own\nmounts: ["/own/current"]\n')
  expect(await call('PATCH', '/own', { content })).toMatchObject({ status: 200 })
  await call('POST', '/own/toggle', { enabled: true })
  await until(
    () => firstInstance('own'),
    (instance) => instance?.state === 'RUNNING',
  )
})

test('security 231: an instance ends although a link was made in place of a directory in "keep", and its files are beside it', async () => {
  const write = "const fs = require('fs'); fs.writeFileSync('world/1', 'mine'); fs.writeFileSync('ops', 'mine');"
  const content = `${definition('replaced', 'dataDirectory: /replaced\ndata: copy\nkeep: [world, ops]\n').replace('setInterval', `${write} console.log('ready'); setInterval`)}ready: ready\n`
  await call('POST', '', { name: 'replaced', type: 'process' })
  const own = join(shareDir(), 'replaced')
  await mkdir(join(own, 'world'))
  expect(await call('PATCH', '/replaced', { content })).toMatchObject({ status: 200 })
  await call('POST', '/replaced/toggle', { enabled: true })
  await until(
    () => firstInstance('replaced'),
    (instance) => instance?.state === 'RUNNING',
  )
  await rm(join(own, 'world'), { recursive: true })
  await symlink('../treasure', join(own, 'world'))
  await call('POST', '/replaced/toggle', { enabled: false })
  await until(async () => (await firstInstance('replaced')) === undefined)
  const beside = (await readdir(own)).filter((name) => name.startsWith('world ('))
  expect(beside).toEqual([expect.stringMatching(/^world \(replaced-[0-9a-f]{6}\)$/)])
  expect(await readdir(join(own, beside[0]!))).toEqual(['1'])
  expect(await readFile(join(own, 'ops'), 'utf8')).toBe('mine')
})

test('a directory in "keep" that is a link is named when the configuration is saved, and refused at the start and before a restart', async () => {
  const reason =
    '"world" in "keep" is a link to a directory, and files are not written back through links. Replace it by a directory, or name the one that it leads to.'
  const content = definition(
    'kept',
    'dataDirectory: /kept\ndata: copy\nkeep: ["world/region", "ops.txt", "world*/x"]\n',
  )
  await call('POST', '', { name: 'kept', type: 'process' })
  const path = join(shareDir(), 'kept/world')
  // A link to a file is replaced by the file that is written back.
  await writeFile(join(shareDir(), 'treasure/ops.txt'), '')
  await symlink('../treasure/ops.txt', join(shareDir(), 'kept/ops.txt'))
  await mkdir(path)
  expect(await call('PATCH', '/kept', { content })).toMatchObject({ status: 200, body: { data: { warnings: [] } } })
  await call('POST', '/kept/toggle', { enabled: true })
  const isRunning = () =>
    until(
      () => firstInstance('kept'),
      (instance) => instance?.state === 'RUNNING',
    )
  const before = (await isRunning())!
  await rm(path, { recursive: true })
  await symlink('../treasure', path)
  expect(await call('PATCH', '/kept', { content })).toMatchObject({
    status: 200,
    body: { data: { warnings: [`keep: ${reason}`] } },
  })
  expect(await call('POST', '/kept/restart')).toMatchObject({ status: 409, body: { message: reason } })
  expect(await firstInstance('kept')).toMatchObject({ state: 'RUNNING', startedAt: before.startedAt })
  await call('POST', '/kept/toggle', { enabled: false })
  await until(async () => (await firstInstance('kept')) === undefined)
  await call('POST', '/kept/toggle', { enabled: true })
  await until(
    () => firstInstance('kept'),
    (instance) => instance?.state === 'BLOCKED',
  )
  expect((await firstInstance('kept'))?.blockedReason).toBe(reason)
  await rm(path)
  await mkdir(path)
  expect(await call('POST', '/kept/restart')).toMatchObject({ status: 200 })
  await isRunning()
})
