import { mkdir, symlink } from 'node:fs/promises'
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
  return (instances as { state: string; blockedReason?: string }[])[0]
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
