import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { V1Pod, V1Service } from '@kubernetes/client-node'
import type { Runtime } from '../../../../src/platform/runtime/runtime'
import { idOfState } from '../../../../src/platform/state/claimedFacts'
import { startApiServer, type ApiServer } from '../../../support/platform/apiServer'
import { openClusterRuntime } from '../../../support/platform/clusterRuntime'
import { freshState, type FreshState } from '../../../support/platform/freshState'
import { instanceSpec } from '../../../support/platform/instanceSpec'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'

const SPEC = instanceSpec({ podName: 'lobby-1', command: ['game'] })

const root = useTemporaryDirectory()
let state: FreshState
let api: ApiServer
/** The platform that is the manager, and another replica. */
let runtime: Runtime
let standby: Runtime
/** Why the server refuses to create a Pod; undefined if it does not. */
let refusal: string | undefined
/** The Pod in the cluster; undefined if there is none. */
let present: V1Pod | undefined
let version: number
/** The Services in the cluster. */
let services: V1Service[]
/** The changes that were requested: `METHOD path`. */
let requested: string[]
let watches: ServerResponse[]

/** Changes the Pod in the cluster, or removes it, and tells those who watch. */
function change(type: 'ADDED' | 'MODIFIED' | 'DELETED', changed: V1Pod): V1Pod {
  version += 1
  const pod = { ...changed, metadata: { ...changed.metadata, resourceVersion: String(version) } }
  present = type === 'DELETED' ? undefined : pod
  for (const watch of watches) watch.write(`${JSON.stringify({ type, object: pod })}\n`)
  return pod
}

/** Begins the deletion of the Pod, which is held if it has finalizers. */
function beginDeletion(pod: V1Pod, at: Date): void {
  const metadata = { ...pod.metadata, deletionTimestamp: at, deletionGracePeriodSeconds: 0 }
  change((metadata.finalizers ?? []).length > 0 ? 'MODIFIED' : 'DELETED', { ...pod, metadata })
}

beforeAll(async () => void (state = await freshState()))
afterAll(() => state.close())
beforeEach(async () => {
  present = undefined
  refusal = undefined
  version = 1
  services = []
  requested = []
  watches = []
  api = await startApiServer(root(), (request, response) => {
    const { method, url = '', headers } = request
    response.setHeader('content-type', 'application/json')
    if (headers['content-type'] === 'application/json-patch+json')
      // No Pod of this state is without its label.
      return void response.writeHead(422).end(JSON.stringify({ kind: 'Status' }))
    if (method !== 'GET') requested.push(`${method} ${url.replace(/\?.*/, '')}`)
    if (method === 'PATCH' && refusal !== undefined) {
      response.writeHead(403).end(JSON.stringify({ kind: 'Status', message: refusal }))
    } else if (method === 'PATCH' && present) {
      void text(request).then((body) => {
        // Of the changes, only that of the specification matters here.
        const { spec } = JSON.parse(body) as V1Pod
        response.end(
          JSON.stringify(spec && !('containers' in spec) ? change('MODIFIED', { ...present, spec }) : present),
        )
      })
    } else if (method === 'PATCH') {
      // The first to apply a Pod creates it.
      const pod = {
        metadata: {
          name: url.replace(/^.*\/|\?.*/g, ''),
          uid: `run-${version}`,
          labels: { 'app.kubernetes.io/managed-by': 'quarterdeck' },
        },
        status: { phase: 'Pending' },
      }
      response.end(JSON.stringify(change('ADDED', pod)))
    } else if (method === 'DELETE') {
      if (present) beginDeletion(present, new Date())
      response.end('{}')
    } else if (url.includes('watch=')) {
      response.flushHeaders()
      watches.push(response)
    } else
      response.end(
        JSON.stringify({ metadata: { resourceVersion: '1' }, items: url.includes('/services') ? services : [] }),
      )
  })
  const open = (isManager: boolean) =>
    openClusterRuntime(api.client, state, { isActive: () => isManager, confirmActive: async () => isManager })
  runtime = open(true)
  standby = open(false)
  await until(() => watches.length === 2)
})
afterEach(async () => {
  await runtime.close()
  await standby.close()
  api.close()
})

const run = async () => (await runtime.list()).find(({ podName }) => podName === 'lobby-1')

test('containers that the cluster has added to a Pod are ended when its program has ended', async () => {
  await runtime.ensure(SPEC)
  const statusOf = (name: string, state: object) => ({
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state,
  })
  const program = statusOf('instance', { terminated: { exitCode: 0, containerID: 'c' } })
  change('MODIFIED', {
    ...present,
    status: { phase: 'Running', containerStatuses: [statusOf('proxy', { running: {} }), program] },
  })
  await until(async () => present?.spec !== undefined)
  expect(present).toMatchObject({ spec: { activeDeadlineSeconds: 1 } })
  expect(await run()).toMatchObject({ state: 'EXITED', exit: { code: 0, orderly: true } })
  // Of a Pod that has no others, nothing is changed.
  const changes = () => requested.filter((one) => one.startsWith('PATCH')).length
  expect(changes()).toBe(2)
  change('MODIFIED', { ...present, spec: undefined, status: { phase: 'Succeeded', containerStatuses: [program] } })
  await until(async () => (await run())?.state === 'EXITED')
  expect(changes()).toBe(2)
})

test('security 240: while a finalizer of another program holds a Pod, nothing waits for it, and the reason is shown', async () => {
  await runtime.ensure(SPEC)
  change('MODIFIED', {
    ...present,
    metadata: { ...present?.metadata, finalizers: ['example.com/audit'] },
    status: { phase: 'Failed' },
  })
  await until(run, (found) => found?.state === 'EXITED')

  const begun = performance.now()
  await expect(runtime.ensure(SPEC)).rejects.toThrow('is not gone yet')
  expect(await run()).toMatchObject({ state: 'STOPPING', problem: undefined })
  // Requests of later passes change nothing.
  await runtime.ensure(SPEC)
  await runtime.remove('lobby-1')
  expect(performance.now() - begun).toBeLessThan(5000)

  beginDeletion(present!, new Date(Date.now() - 11_000))
  const problem = 'The cluster keeps its Pod until other programs have removed their finalizers (example.com/audit).'
  await until(run, (found) => found?.problem === problem)
  await until(
    () => runtime.history('lobby-1', 10),
    (lines) => lines.some(({ content }) => content === `[System] ${problem}`),
  )

  change('DELETED', present!)
  await until(run, (found) => found === undefined)
  await runtime.ensure(SPEC)
  expect((await run())?.state).toBe('STARTING')
})

test('the end of a run and a start that the cluster refuses are written once, whichever replica shows the console', async () => {
  const podName = 'lobby-2'
  const linesOf = async (replica: Runtime) => (await replica.history(podName, 100)).map(({ content }) => content)
  await runtime.ensure({ ...SPEC, podName })
  change('MODIFIED', { ...present, status: { phase: 'Failed', reason: 'Evicted' } })
  await until(
    () => linesOf(standby),
    (lines) => lines.length === 1,
  )
  refusal = 'exceeded quota'
  await runtime.ensure({ ...SPEC, podName })
  await until(async () => (await standby.list()).every(({ state: known }) => known === 'EXITED'))
  for (const replica of [runtime, standby, runtime, standby])
    expect(await linesOf(replica)).toEqual([
      '[System] Ended by the cluster: Evicted',
      '[System] Could not be started: exceeded quota.',
    ])
})

test('replicas that start at once with a new state agree on its id', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => idOfState(state.db)))
  expect(new Set(ids).size).toBe(1)
})

test('security 243: Pods and Services of another state in the namespace are left alone', async () => {
  const annotated = (state: string) => ({ 'quarterdeck.io/state': state })
  const labels = { 'app.kubernetes.io/managed-by': 'quarterdeck' }
  const status = { phase: 'Running' }
  const podNames = async () => (await runtime.list()).map(({ podName }) => podName).sort()
  change('ADDED', { metadata: { name: 'theirs-1', uid: 'a', labels, annotations: annotated('state-2') }, status })
  change('ADDED', { metadata: { name: 'ours-1', uid: 'b', labels, annotations: annotated('state-1') }, status })
  change('ADDED', { metadata: { name: 'older-1', uid: 'c', labels }, status })
  await until(podNames, (names) => names.length > 1)
  expect(await podNames()).toEqual(['older-1', 'ours-1'])
  await runtime.stop('theirs-1')
  await runtime.remove('theirs-1')

  services = [
    { metadata: { name: 'theirs', labels, annotations: annotated('state-2') } },
    { metadata: { name: 'ours', labels, annotations: annotated('state-1') } },
    { metadata: { name: 'older', labels } },
  ]
  await runtime.publish?.([{ deployment: 'theirs', port: 25565, expose: 'none' }])
  expect(requested).toEqual([
    'DELETE /api/v1/namespaces/games/services/ours',
    'DELETE /api/v1/namespaces/games/services/older',
  ])
})
