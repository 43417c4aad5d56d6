import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { stringify } from 'yaml'
import { withClient } from '../postgresClients'
import { breakableProxy, type BreakableProxy } from '../breakableProxy'
import { REAL_CLUSTER_MS, startCluster, type TestCluster } from '../cluster'
import { deployPath } from '../deployFiles'
import { until } from '../until'
import { addPlatformImage, PLATFORM_IMAGE } from './platformImage'
import { createTemporaryDirectory } from '../temporaryDirectory'

export const NAMESPACE = 'quarterdeck'
/** The address at which Pods reach this machine. */
const HOST = '198.51.100.1'
/** Key of the manager's advisory lock (`MANAGER_LOCK_KEY` of manager.ts). */
const MANAGER_LOCK_KEY = 7_230_001

/** Time for a hook that starts the platform in a cluster. */
export const IN_CLUSTER_MS = REAL_CLUSTER_MS

/** A Pod of the platform. */
export interface PlatformPod {
  name: string
  ip: string
  isReady: boolean
}

export interface PlatformInCluster {
  cluster: TestCluster
  /** kubectl in the platform's namespace. */
  kubectl: (...args: string[]) => Promise<string>
  /** Of its Service: host and port. */
  address: string
  /** The Pods of the platform that are not ending. */
  pods(): Promise<PlatformPod[]>
  /** The Pod of the replica that is the manager; undefined while none is. */
  manager(): Promise<PlatformPod | undefined>
  /** Waits until as many replicas are ready as the Deployment asks for. */
  ready(): Promise<PlatformPod[]>
  stop(): Promise<void>
}

/**
 * Starts a real cluster and in it, by the manifests of `src/deploy/kubernetes`, the platform. An overlay names its
 * image; its PostgreSQL is outside of the cluster, as the manifests want it.
 * @param databaseUrl of a PostgreSQL that listens on 127.0.0.1
 */
export async function startInCluster(databaseUrl: string): Promise<PlatformInCluster> {
  const cluster = await startCluster('--real', '--metrics', '--proxy')
  const proxies: BreakableProxy[] = []
  const stop = async () => {
    await cluster.stop()
    for (const proxy of proxies) await proxy.close()
  }
  try {
    return await install(cluster, databaseUrl, proxies, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function install(
  cluster: TestCluster,
  databaseUrl: string,
  proxies: BreakableProxy[],
  stop: () => Promise<void>,
): Promise<PlatformInCluster> {
  const forward = async (port: number) => {
    const proxy = await breakableProxy({ host: '127.0.0.1', port }, HOST)
    proxies.push(proxy)
    return proxy
  }
  const kubectl = (...args: string[]) => cluster.kubectl('-n', NAMESPACE, ...args)
  const [server, database] = await Promise.all([
    cluster
      .kubectl('config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}')
      .then((url) => forward(Number(new URL(url).port))),
    forward(Number(new URL(databaseUrl).port)),
    addPlatformImage(cluster),
  ])
  await publishApiServer(cluster, server.port)
  await cluster.kubectl('apply', '-f', deployPath('kubernetes/namespace.yaml'))
  const stateUrl = new URL(databaseUrl)
  stateUrl.host = `${HOST}:${database.port}`
  await kubectl(
    'create',
    'secret',
    'generic',
    'quarterdeck',
    `--from-literal=secret.key=${randomBytes(32).toString('hex')}`,
    `--from-literal=state-url=${stateUrl.href}`,
  )
  await cluster.kubectl('apply', '-k', writeOverlay())

  async function pods(): Promise<PlatformPod[]> {
    const list = JSON.parse(
      await kubectl('get', 'pods', '-l', 'app.kubernetes.io/component=console', '-o', 'json'),
    ) as PodList
    return list.items.flatMap(({ metadata, status }) =>
      metadata.deletionTimestamp === undefined && status.phase === 'Running'
        ? [
            {
              name: metadata.name,
              ip: status.podIP ?? '',
              isReady: status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
            },
          ]
        : [],
    )
  }
  return {
    cluster,
    kubectl,
    address: await kubectl('get', 'service', 'quarterdeck', '-o', 'jsonpath={.spec.clusterIP}'),
    pods,
    async manager() {
      const ip = database.sourceOf(await portOfManager(databaseUrl))
      return (await pods()).find((pod) => pod.ip === ip)
    },
    async ready() {
      try {
        return await until(pods, (all) => all.length === 2 && all.every(({ isReady }) => isReady), 90)
      } catch (error) {
        const logs = await kubectl('logs', '-l', 'app.kubernetes.io/component=console', '--prefix', '--tail=5')
        throw new Error(`${String(error)}\n${logs}`, { cause: error })
      }
    },
    stop,
  }
}

interface PodList {
  items: {
    metadata: { name: string; deletionTimestamp?: string }
    status: { phase: string; podIP?: string; conditions?: { type: string; status: string }[] }
  }[]
}

/** Pods reach the API server by its Service, which has no addresses in a cluster whose API server is on loopback. */
async function publishApiServer(cluster: TestCluster, port: number): Promise<void> {
  await cluster.apply(
    JSON.stringify({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kubernetes', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      ports: [{ name: 'https', port, protocol: 'TCP' }],
      endpoints: [{ addresses: [HOST], conditions: { ready: true } }],
    }),
  )
}

/** @returns the directory of an overlay as the README describes it */
function writeOverlay(): string {
  const directory = createTemporaryDirectory('overlay')
  const [newName, newTag] = PLATFORM_IMAGE.split(':')
  const image = [
    {
      op: 'add',
      path: '/spec/template/spec/containers/0/env/-',
      value: { name: 'QUARTERDECK_IMAGE', value: PLATFORM_IMAGE },
    },
  ]
  writeFileSync(
    join(directory, 'kustomization.yaml'),
    stringify({
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [relative(directory, deployPath('kubernetes'))],
      images: [{ name: 'quarterdeck', newName, newTag }],
      patches: [{ target: { kind: 'Deployment' }, patch: stringify(image) }],
    }),
  )
  return directory
}

/** @returns the source port of the manager's connection to PostgreSQL; 0 while no replica holds the lock */
async function portOfManager(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ port: number }>(
      `select a.client_port as port from pg_locks l join pg_stat_activity a using (pid)
       where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = 0 and l.objid = $1
       and a.datname = current_database()`,
      [MANAGER_LOCK_KEY],
    )
    return rows[0]?.port ?? 0
  })
}
