import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeploymentType } from '../../../../src/contract/deployment'
import type { Instance } from '../../../../src/contract/instance'
import { createNamespace, TEST_IMAGE, type TestCluster } from '../../../support/platform/cluster'
import { createAccount } from '../../../support/platform/clusterAccount'
import { freshDatabase } from '../../../support/platform/freshState'
import { startPlatform, type Account, type TestPlatform } from '../../../support/platform/startPlatform'
import { until } from '../../../support/platform/until'
import { createTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

/** Two replicas of the platform, with a namespace of a cluster and a shared area of their own. */
export interface ClusterNetwork {
  /** The replica that is asked. */
  first: TestPlatform
  second: TestPlatform
  admin: Account
  shareDir: string
  /** The node for persistent deployments. */
  node: string
  startReplica(): Promise<TestPlatform>
  /** @returns the data of the response. @throws Error if the call fails */
  call(method: Parameters<TestPlatform['call']>[0], url: string, body?: unknown): Promise<Record<string, unknown>>
  /** Creates a deployment with these lines of its definition, and enables it. */
  deploy(name: string, type: DeploymentType, settings: string, files?: Record<string, string>): Promise<void>
  instancesOf(name: string): Promise<Instance[]>
  /** Waits until the first instance of a deployment has a state. */
  reaches(name: string, state: Instance['state'], isMeant?: (instance: Instance) => boolean): Promise<Instance>
  /** The lines of a console, as a replica has them. */
  consoleOf(podName: string, platform?: TestPlatform): Promise<string[]>
  /** Waits until a console has a line that matches. */
  prints(podName: string, text: RegExp, platform?: TestPlatform): Promise<string[]>
  /** Deletes all deployments, and ends the replicas. */
  close(): Promise<void>
}

/** Starts the replicas with the rights of the manifests, and no others. */
export async function startClusterNetwork(cluster: TestCluster, namespace: string): Promise<ClusterNetwork> {
  const shareDir = createTemporaryDirectory('share')
  await createNamespace(cluster, namespace, shareDir)
  const node = await cluster.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')
  const state = await freshDatabase()
  const kubeconfig = await createAccount(cluster, namespace, createTemporaryDirectory('account'))
  const key = randomBytes(32).toString('hex')

  async function startReplica(): Promise<TestPlatform> {
    const dataDir = createTemporaryDirectory('replica')
    writeFileSync(join(dataDir, 'secret.key'), key, { mode: 0o600 })
    return startPlatform({
      dataDir,
      shareDir,
      databaseUrl: state.url,
      environment: {
        QUARTERDECK_RUNTIME: 'kubernetes',
        QUARTERDECK_NAMESPACE: namespace,
        QUARTERDECK_IMAGE: TEST_IMAGE,
        KUBECONFIG: kubeconfig,
      },
    })
  }

  const first = await startReplica()
  const network: ClusterNetwork = {
    first,
    admin: await first.register('admin'),
    second: await startReplica(),
    shareDir,
    node,
    startReplica,
    async call(method, url, body) {
      const { token } = network.admin
      const answer = await network.first.call(method, url, { token, ...(body !== undefined && { body }) })
      if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.body.message}`)
      return answer.body.data
    },
    async deploy(name, type, settings, files = {}) {
      const isPersistent = type === 'persistent'
      await network.call('POST', '/api/deployments', { name, type, ...(isPersistent && { node }) })
      const content = `name: ${name}\ntype: ${type}\ndataDirectory: /${name}\n${isPersistent ? `node: ${node}\n` : ''}${settings}`
      await network.call('PATCH', `/api/deployments/${name}`, { content })
      for (const [file, text] of Object.entries(files)) writeFileSync(join(shareDir, name, file), text)
      await network.call('POST', `/api/deployments/${name}/toggle`, { enabled: true })
    },
    instancesOf: async (name) =>
      (await network.call('GET', `/api/deployments/${name}/instances`)).instances as Instance[],
    async reaches(name, wanted, isMeant = () => true) {
      const [instance] = await until(
        () => network.instancesOf(name),
        ([present]) => present?.state === wanted && isMeant(present),
      )
      return instance!
    },
    consoleOf: async (podName, platform = network.first) =>
      (await platform.runtime.history(podName, 1000)).map(({ content }) => content),
    prints: (podName, text, platform) =>
      until(
        () => network.consoleOf(podName, platform),
        (lines) => lines.some((line) => text.test(line)),
      ),
    async close() {
      for (const { name } of (await network.first.deployments.list()) ?? [])
        await network.call('DELETE', `/api/deployments/${name}`)
      await network.first.close()
      await network.second.close()
      await state.drop()
    },
  }
  return network
}
