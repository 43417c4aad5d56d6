import { execSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import type { Runtime } from '../../../../src/platform/runtime/runtime'
import { modules as gameServerModules } from '../../../support/gameServerPackage'
import {
  addTestImage,
  clusterTitle,
  createNamespace,
  hasCluster,
  hasRealCluster,
  openRealCluster,
  REAL_CLUSTER_MS,
  TEST_IMAGE,
  type TestCluster,
} from '../../../support/platform/cluster'
import { openClusterRuntime } from '../../../support/platform/clusterRuntime'
import { freshState, type FreshState } from '../../../support/platform/freshState'
import { instanceSpec } from '../../../support/platform/instanceSpec'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'
import { runtimeSuite } from '../runtimeSuite'
import { faultsOnCluster } from './faultsOnCluster'
import { gamesOnCluster } from './gamesOnCluster'
import { platformOnCluster } from './platformOnCluster'
import { rightsOnCluster } from './rights'

const root = useTemporaryDirectory()
const USER = 1000
const shareDir = () => join(root(), 'share')
const log = pino({ level: process.env.TEST_LOG ?? 'silent' })
let cluster: TestCluster
let state: FreshState
let runtime: Runtime

const open = () =>
  openClusterRuntime(createClusterClient({ kubeconfig: cluster.kubeconfig }, 'games'), state, {
    image: TEST_IMAGE,
    user: USER,
    peersDirectory: (podName) => `/peers/${podName}`,
    prepare: async ({ dataDirectory }) => chownSync(join(shareDir(), dataDirectory), USER, USER),
    log,
  })

;(hasRealCluster ? describe : describe.skip)(clusterTitle('a real cluster'), () => {
  beforeAll(async () => {
    mkdirSync(shareDir())
    chmodSync(root(), 0o755)
    cluster = await openRealCluster()
    await Promise.all([addTestImage(cluster), createNamespace(cluster, 'games', shareDir())])
    state = await freshState()
    runtime = open()
  }, REAL_CLUSTER_MS)
  afterAll(async () => {
    await runtime?.close()
    await state?.close()
    await cluster?.stop()
  }, 60_000)

  describe('the Kubernetes runtime', () => {
    runtimeSuite({
      runtime: () => runtime,
      share: shareDir,
      home: () => '/data',
      knowsErrors: false,
      linesThatFill: 2000,
    })

    test('decisions §5: a sync lasts while a Pod copies the directory of its instance', async () => {
      const directory = join(shareDir(), 'copied')
      mkdirSync(directory)
      // The kubelet looks at its containers once a second: the copy takes longer.
      execSync('seq 100000 | xargs touch', { cwd: directory })
      const events: string[] = []
      const unwatch = runtime.copySync?.onSync(({ event }) => events.push(event))
      await runtime.ensure(
        instanceSpec({
          podName: 'copied',
          command: ['sh', '-c', 'ls 77777; cat'],
          dataDirectory: '/copied',
          copy: true,
        }),
      )
      await until(async () => (await runtime.history('copied', 10)).some(({ content }) => content === '77777'))
      await until(async () => events.length === 2)
      expect(events).toEqual(['sync_started', 'sync_completed'])
      await runtime.kill('copied')
      unwatch?.()
    })
  })

  describe('the rights of the platform', () =>
    rightsOnCluster(
      () => cluster,
      () => state,
    ))

  ;(gameServerModules() === undefined ? describe.skip : describe)('game servers', () => gamesOnCluster(() => cluster))

  describe('the platform', () => platformOnCluster(() => cluster))

  // The last one, because the cluster needs minutes to settle after it. It stops parts of the cluster by its scripts.
  ;(hasCluster ? describe : describe.skip)('a platform on a failing cluster', () => faultsOnCluster(() => cluster))
})
