import { json } from 'node:stream/consumers'
import type { V1Pod, V1Service } from '@kubernetes/client-node'
import pino from 'pino'
import type { Runtime } from '../../../../src/platform/runtime/runtime'
import { startApiServer, type ApiServer } from '../../../support/platform/apiServer'
import { openClusterRuntime } from '../../../support/platform/clusterRuntime'
import { freshState, type FreshState } from '../../../support/platform/freshState'
import { POD_SETTINGS } from '../../../support/platform/lobbyPods'
import { instanceSpec } from '../../../support/platform/instanceSpec'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

const root = useTemporaryDirectory()
let state: FreshState
let api: ApiServer
let runtime: Runtime
/** How the server refuses to create something; undefined if it does not. */
let refusal: { status: number; message: string } | undefined
/** How an admission webhook changes Pods. */
let webhook: ((metadata: NonNullable<V1Pod['metadata']>) => void) | undefined
/** A Pod that is in the cluster without the label of the platform, as it is once it has it again. */
let unlabelled: V1Pod | undefined
/** The instances whose files were prepared for a start, or removed. */
let touched: string[]
/** The Services that are in the cluster. */
let services: V1Service[]
/** The paths of what should be deleted. */
let deleted: string[]
/** The paths of what should be created. */
let asked: string[]
let logged: string[]

beforeAll(async () => void (state = await freshState()))
afterAll(() => state.close())
beforeEach(async () => {
  asked = []
  deleted = []
  refusal = undefined
  webhook = undefined
  unlabelled = undefined
  touched = []
  services = []
  logged = []
  // No Pods, and a watch without changes.
  api = await startApiServer(root(), (request, response) => {
    const { method, url = '' } = request
    response.setHeader('content-type', 'application/json')
    const change = webhook
    if (request.headers['content-type'] === 'application/json-patch+json' && !refusal)
      response.writeHead(unlabelled ? 200 : 404).end(JSON.stringify(unlabelled ?? { kind: 'Status' }))
    else if (method === 'PATCH' && change) {
      void json(request).then((body) => {
        const pod = body as V1Pod
        Object.assign(pod.metadata!, { uid: 'uid-1' })
        change(pod.metadata!)
        response.end(JSON.stringify(pod))
      })
    } else if (method === 'DELETE') {
      deleted.push(url.replace(/\?.*/, ''))
      response.end('{"kind": "Status"}')
    } else if (method === 'PATCH') {
      asked.push(url.replace(/\?.*/, ''))
      response.writeHead(refusal?.status ?? 200).end(JSON.stringify({ kind: 'Status', ...refusal }))
    } else if (url.includes('watch=')) response.flushHeaders()
    else if (url.includes('/services')) response.end(JSON.stringify({ items: services }))
    else response.end('{"metadata": {"resourceVersion": "1"}, "items": []}')
  })
  runtime = openClusterRuntime(api.client, state, {
    log: pino({ level: 'error' }, { write: (line) => void logged.push(line) }),
    prepare: async ({ podName }) => void touched.push(podName),
    copies: { ...POD_SETTINGS.copies, remove: async (podName) => void touched.push(podName) },
  })
})
afterEach(async () => {
  jest.restoreAllMocks()
  await runtime.close()
  api.close()
})

/** How a start ends that the cluster refuses. */
async function endOf(status: number, message: string) {
  refusal = { status, message }
  await runtime.ensure(instanceSpec({ podName: 'lobby-1', command: ['game'] }))
  return (await runtime.list()).find(({ podName }) => podName === 'lobby-1')?.exit
}

test.each([
  [
    'a quota is used up',
    403,
    'pods "lobby-1" is forbidden: exceeded quota: games, requested: pods=1, used: pods=2, limited: pods=2',
  ],
  [
    'the quota changed meanwhile',
    409,
    'Operation cannot be fulfilled on resourcequotas "games": the object has been modified',
  ],
  [
    'a right is missing',
    403,
    'pods "lobby-1" is forbidden: User "quarterdeck" cannot create resource "pods" in API group "" in the namespace "games"',
  ],
  ['the credentials have expired', 401, 'Unauthorized'],
  [
    'the namespace is being deleted',
    403,
    'pods "lobby-1" is forbidden: unable to create new content in namespace games because it is being terminated',
  ],
  ['the namespace is missing', 404, 'namespaces "games" not found'],
  ['the API server is overloaded', 429, 'too many requests'],
  [
    'an admission webhook does not answer',
    500,
    'Internal error occurred: failed calling webhook "policy.example": connect: connection refused',
  ],
])('security 229: a start is tried again, and does not count as a crash, when %s', async (_why, status, message) => {
  expect(await endOf(status, message)).toMatchObject({
    failure: `Could not be started: ${message}.`,
    isTemporary: true,
  })
})

test.each<[what: string, name: string, change: typeof webhook]>([
  [
    'label',
    'app.kubernetes.io/managed-by to "Helm"',
    ({ labels }) => void (labels!['app.kubernetes.io/managed-by'] = 'Helm'),
  ],
  ['label', 'app.kubernetes.io/managed-by to ""', ({ labels }) => void delete labels!['app.kubernetes.io/managed-by']],
  [
    'annotation',
    'quarterdeck.io/state to "other"',
    ({ annotations }) => void (annotations!['quarterdeck.io/state'] = 'other'),
  ],
])(
  'a Pod whose %s %s an admission webhook changes is deleted, because it could not be seen again, with the reason',
  async (what, name, change) => {
    webhook = change
    await runtime.ensure(instanceSpec({ podName: 'lobby-1', command: ['game'] }))
    expect((await runtime.list()).filter(({ podName }) => podName === 'lobby-1')).toMatchObject([
      {
        state: 'EXITED',
        exit: {
          failure: `Could not be started: an admission webhook of the cluster changes the ${what} ${name}, by which the platform finds its Pods. Exclude them from it.`,
        },
      },
    ])
    expect(deleted).toEqual(['/api/v1/namespaces/games/pods/lobby-1'])
  },
)

test('security 251: the files of a Pod that runs on without its label are neither prepared again nor removed', async () => {
  unlabelled = {
    metadata: { name: 'lobby-1', uid: 'uid-1', labels: { 'app.kubernetes.io/managed-by': 'quarterdeck' } },
  }
  await runtime.ensure(instanceSpec({ podName: 'lobby-1', command: ['game'] }))
  await runtime.remove('lobby-1')
  expect(touched).toEqual([])
  expect(asked).toEqual([])
  expect((await runtime.history('lobby-1', 10)).map(({ content }) => content)).toEqual([
    '[System] Its Pod is still there: it had lost the label by which the platform finds it, and has it again. What it prints is shown from its next start on.',
  ])
})

test('a Pod that runs and whose label an admission webhook takes away again and again is neither deleted nor forgotten', async () => {
  unlabelled = { metadata: { name: 'lobby-1', uid: 'uid-1', labels: {}, finalizers: ['quarterdeck.io/keep'] } }
  await runtime.ensure(instanceSpec({ podName: 'lobby-1', command: ['game'], keep: ['world'] }))
  const reason = 'an admission webhook of the cluster changes the label app.kubernetes.io/managed-by'
  expect((await runtime.list())[0]?.exit?.failure).toContain(reason)
  await expect(runtime.remove('lobby-1')).rejects.toThrow(reason)
  expect({ touched, asked, deleted }).toEqual({ touched: [], asked: [], deleted: [] })
})

test('a Service that has existed for long is not deleted because an admission webhook changes its label now', async () => {
  webhook = (metadata) => void services.push({ metadata: structuredClone(metadata) })
  const published = { deployment: 'lobby', port: 25_565, expose: 'none' } as const
  await runtime.publish?.([published])
  expect(services).toHaveLength(1)
  webhook = ({ labels }) => void delete labels!['app.kubernetes.io/managed-by']
  await runtime.publish?.([{ ...published, port: 25_566 }])
  expect(deleted).toEqual([])
  expect(logged.join()).toContain('an admission webhook of the cluster changes the label')
})

test('a Service whose label an admission webhook changes is deleted, because it could not be seen again, with the reason', async () => {
  webhook = ({ labels }) => void delete labels!['app.kubernetes.io/managed-by']
  await runtime.publish?.([{ deployment: 'lobby', port: 25_565, expose: 'none' }])
  expect(deleted).toEqual(['/api/v1/namespaces/games/services/lobby'])
  expect(logged.join()).toContain(
    'an admission webhook of the cluster changes the label app.kubernetes.io/managed-by to \\"\\", by which the platform finds its Services. Exclude them from it',
  )
})

test.each([
  ['an invalid Pod', 422, 'Pod "lobby-1" is invalid: spec.containers[0].image: Required value'],
  ['a limit range', 403, 'pods "lobby-1" is forbidden: maximum cpu usage per Container is 1, but limit is 2'],
])('a start that the cluster refuses because of %s counts as a crash', async (_why, status, message) => {
  const exit = await endOf(status, message)
  expect(exit).toMatchObject({ failure: `Could not be started: ${message}.` })
  expect(exit?.isTemporary).toBeUndefined()
})

test.each([
  ['within ten seconds, when a quota is used up', 'services "lobby" is forbidden: exceeded quota: games', 2],
  ['later, when a policy forbids it', 'services "lobby" is forbidden: not allowed by the policy "names"', 1],
])('security 229: a Service that the cluster refuses is tried again %s', async (_when, message, attempts) => {
  let ahead = 0
  const now = performance.now.bind(performance)
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  const publish = () => runtime.publish!([{ deployment: 'lobby', port: 25565, expose: 'none' }])
  refusal = { status: 403, message }
  await publish()
  await publish()
  expect(asked).toEqual(['/api/v1/namespaces/games/services/lobby'])
  ahead = 10_000
  await publish()
  expect(asked).toHaveLength(attempts)
  expect(logged.filter((line) => line.includes('refuses the Service'))).toHaveLength(1)
  refusal = undefined
  ahead = 20_000
  await publish()
  const sent = asked.length
  ahead = 40_000
  await publish()
  expect(asked).toHaveLength(sent)
})
