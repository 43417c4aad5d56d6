import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodesResponse } from '../../../../src/contract/network'
import type { ClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import { listNodes as listNodesOf } from '../../../../src/platform/runtime/kubernetes/nodes'
import {
  clusterTitle,
  createNamespace,
  hasCluster,
  startCluster,
  type TestCluster,
} from '../../../support/platform/cluster'
import { createAccount } from '../../../support/platform/clusterAccount'
import { freshDatabase } from '../../../support/platform/freshState'
import { startPlatform, type Account, type TestPlatform } from '../../../support/platform/startPlatform'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'

const NAMESPACE = 'network'
const GIB = 2 ** 30

const directory = useTemporaryDirectory()
let cluster: TestCluster
let state: Awaited<ReturnType<typeof freshDatabase>>
let platform: TestPlatform
let ann: Account

async function listNodes(): Promise<NodesResponse['data']> {
  const { status, body } = await platform.call('GET', '/api/network/nodes', { token: ann.token })
  expect(status).toBe(200)
  return body.data as NodesResponse['data']
}

test('an amount that is no quantity, or negative, counts as missing', async () => {
  const allocatable = { cpu: '4', memory: 'many' }
  const client = { call: async () => ({ items: [{ metadata: { name: 'node-a' }, status: { allocatable } }] }) }
  const requests = { cpu: 'some', memory: '-1Gi' }
  const spec = { nodeName: 'node-a', containers: [{ name: 'instance', resources: { requests } }] }
  expect(await listNodesOf(client as unknown as ClusterClient, [{ spec }])).toEqual([
    { name: 'node-a', ready: false, cpu: { free: 4, total: 4 }, memory: { free: 0, total: 0 } },
  ])
})

;(hasCluster ? describe : describe.skip)(clusterTitle('the nodes of a cluster'), () => {
  beforeAll(async () => {
    cluster = await startCluster('--kwok', '--nodes', '2')
    const [shareDir, dataDir] = [join(directory(), 'share'), join(directory(), 'data')]
    for (const path of [shareDir, dataDir]) mkdirSync(path)
    writeFileSync(join(dataDir, 'secret.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
    await createNamespace(cluster, NAMESPACE, shareDir)
    state = await freshDatabase()
    platform = await startPlatform({
      dataDir,
      shareDir,
      databaseUrl: state.url,
      environment: {
        QUARTERDECK_RUNTIME: 'kubernetes',
        QUARTERDECK_NAMESPACE: NAMESPACE,
        KUBECONFIG: await createAccount(cluster, NAMESPACE, directory()),
      },
    })
    ann = await platform.register('ann')
  }, 120_000)
  afterAll(async () => {
    await platform?.close()
    await state?.drop()
    await cluster?.stop()
  }, 60_000)

  test('the list of nodes has the CPU and memory that instances have not requested, and whether each node is ready', async () => {
    const { nodes, details = [] } = await listNodes()
    const [first = '', second = ''] = nodes
    expect(nodes).toHaveLength(2)
    const room = { ready: true, cpu: { free: 8, total: 8 }, memory: { free: 32 * GIB, total: 32 * GIB } }
    expect(details).toEqual([
      { name: first, ...room },
      { name: second, ...room },
    ])

    const call = async (method: 'POST' | 'PATCH', path: string, body: object) =>
      expect(await platform.call(method, `/api/deployments${path}`, { token: ann.token, body })).toMatchObject({
        body: { success: true },
      })
    await call('POST', '', { name: 'world', type: 'persistent', node: first })
    await call('PATCH', '/world', {
      content: `name: world\ntype: persistent\ndataDirectory: /world\nnode: ${first}\nrun: { command: ["sleep", "1000"] }\nresources: { cpu: 1500m, memory: 2Gi }\n`,
    })
    await call('POST', '/world/toggle', { enabled: true })
    const used = { name: first, ready: true, cpu: { free: 6.5, total: 8 }, memory: { free: 30 * GIB, total: 32 * GIB } }
    await until(listNodes, ({ details }) => details?.[0]?.cpu.free === used.cpu.free, 30)
    expect((await listNodes()).details).toEqual([used, { name: second, ...room }])

    await cluster.kubectl('cordon', second)
    expect(await listNodes()).toEqual({ nodes: [first], details: [used, { name: second, ...room, ready: false }] })
  })
})
