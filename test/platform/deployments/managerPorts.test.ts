import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { insertDeployment } from '../../../src/platform/state/deployments/deployments'
import { freePort } from '../../support/platform/freePort'
import { useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { manage, deployments, consoleOf, running } = managed

describe('§14 a port that is in use', () => {
  const LISTEN =
    "require('node:net').createServer().listen(process.env.PORT, '127.0.0.1', () => console.log('listens'))"
  const addServer = async (name: string, port: number, more = '', type = 'persistent') => {
    const node = type === 'persistent' ? 'node: node-a\n' : ''
    const content = `name: ${name}\ntype: ${type}\n${node}dataDirectory: /${name}\nrun: { command: ["node", "-e", ${JSON.stringify(LISTEN)}], port: ${port} }\nstop: { timeoutSeconds: 1 }\n${more}`
    await insertDeployment(managed.state.db, { name, type, content, enabled: true })
  }
  const blockedReason = async (name: string) => (await deployments().instances(name))[0]?.blockedReason

  test('by another program: keeps the server stopped, names the program, and the server starts when the port is free', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, resolve))
    const { port } = other.address() as AddressInfo
    await addServer('world', port)
    const manager = manage()
    const reason = await until(() => blockedReason('world'))
    expect(reason).toBe(`Port ${port} is taken by Quarterdeck itself.`)
    manager.wake()
    await expect(deployments().restart('world')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(reason!),
    })
    expect(await managed.runtime.list()).toEqual([])
    await new Promise((resolve) => other.close(resolve))
    manager.wake()
    await until(
      () => consoleOf('world'),
      (lines) => lines.includes('listens'),
    )
    expect(await consoleOf('world')).toContain(`[System] Blocked: ${reason} It starts when the port is free.`)
    expect(await blockedReason('world')).toBeUndefined()
  })

  test('by another deployment: names that deployment to users who may see it, and of two concurrent starts one waits for the other', async () => {
    const port = await freePort()
    await addServer('first', port)
    await addServer('second', port)
    const manager = manage()
    await until(
      () => consoleOf('first'),
      (lines) => lines.includes('listens'),
    )
    const { podName } = (await deployments().instances('first'))[0]!
    expect(await until(() => blockedReason('second'))).toBe(
      `Port ${port} is taken by the deployment "first" (${podName}).`,
    )
    const hidden = `Port ${port} is taken by another program.`
    expect((await consoleOf('second')).filter((line) => line.includes('Blocked'))).toEqual([
      `[System] Blocked: ${hidden} It starts when the port is free.`,
    ])
    // As a limited user, who may not know of the first.
    const isNamed = (name: string) => name === 'second'
    expect(await deployments().instances('second', isNamed)).toMatchObject([{ blockedReason: hidden }])
    expect(await deployments().listWithInstances(isNamed)).toMatchObject([{ instances: [{ blockedReason: hidden }] }])
    await expect(deployments().restart('second', undefined, isNamed)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(new RegExp(` did not start again: ${hidden}$`)),
    })
    await deployments().setEnabled('first', false)
    manager.wake()
    await until(
      () => consoleOf('second'),
      (lines) => lines.includes('listens'),
    )
  })

  test('of one instance does not end the restart of the others', async () => {
    const port = await freePort()
    const other = createServer().listen(port + 1, '127.0.0.1')
    await once(other, 'listening')
    await addServer('lobby', port, 'instances: { min: 2, max: 2 }\n', 'scalable')
    manage()
    const [before] = await until(
      () => deployments().instances('lobby'),
      (all) => all.some(({ state }) => state === 'RUNNING') && all.some(({ state }) => state === 'BLOCKED'),
    ).then(() => running('lobby'))
    const runOf = async () => (await managed.runtime.list()).find(({ podName }) => podName === before!.podName)?.runId
    const runBefore = await runOf()
    await expect(deployments().restart('lobby')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`did not start again: Port ${port + 1} is taken by`),
    })
    await until(runOf, (run) => run !== runBefore)
    expect((await running('lobby')).map(({ uid }) => uid)).toEqual([before!.uid])
    other.close()
  })

  test('by the restarted instance itself does not block the restart', async () => {
    await addServer('lobby', await freePort(), 'instances: { min: 2, max: 2 }\n', 'scalable')
    manage()
    await until(
      () => running('lobby'),
      (all) => all.length === 2,
    )
    await deployments().restart('lobby')
    await until(
      () => running('lobby'),
      (all) => all.length === 2,
    )
  })
})
