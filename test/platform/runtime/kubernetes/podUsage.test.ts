import { Readable } from 'node:stream'
import type { V1Pod } from '@kubernetes/client-node'
import pino from 'pino'
import { AppError } from '../../../../src/platform/errors'
import { ClusterRefusal, type ClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import { createPodUsage, parseQuantity } from '../../../../src/platform/runtime/kubernetes/podUsage'
import { until } from '../../../support/platform/until'

const podOn = (nodeName: string, name: string): V1Pod => ({
  metadata: { name, uid: `run-${name}` },
  spec: { nodeName, containers: [] },
})
const pods = [podOn('one', 'lobby-1'), podOn('two', 'world-1')]

/** The usage of the Pods by the responses to paths that contain these texts. Other paths are refused. */
async function usageBy(answers: Record<string, unknown>) {
  const usage = await createPodUsage(clientWith(answers), pino({ level: 'silent' }))(pods)
  return usage.map(({ podName, memoryBytes }) => ({ podName, memoryBytes }))
}

function clientWith(answers: Record<string, unknown>): ClusterClient {
  const stream: ClusterClient['stream'] = async (path) => {
    const [, answer] = Object.entries(answers).find(([part]) => path.includes(part)) ?? []
    if (answer === undefined) throw new ClusterRefusal(404, 'not found')
    if (answer instanceof Error) throw answer
    return Readable.from([Buffer.from(JSON.stringify(answer))]) as Awaited<ReturnType<ClusterClient['stream']>>
  }
  return { namespace: 'games', stream } as unknown as ClusterClient
}

const figuresOf = (name: string, bytes: unknown, nanoCores: unknown = 1e9) => ({
  podRef: { name, namespace: 'games', uid: `run-${name}` },
  cpu: { usageNanoCores: nanoCores },
  memory: { workingSetBytes: bytes },
})
const lobby = { pods: [figuresOf('lobby-1', 5000)] }

test('without a metrics server the usage of Pods is read from the kubelet of each node', async () => {
  expect(await usageBy({ 'nodes/one/': lobby, 'nodes/two/': { pods: [figuresOf('world-1', 7000)] } })).toEqual([
    { podName: 'lobby-1', memoryBytes: 5000 },
    { podName: 'world-1', memoryBytes: 7000 },
  ])
})

test.each<[string, unknown]>([
  ['does not answer', new AppError('UNAVAILABLE', 'no response')],
  ['answers null', null],
  ['answers no list', { pods: 'none' }],
  ['reports a negative size', { pods: [figuresOf('world-1', -1)] }],
  ['reports a text as a size', { pods: [figuresOf('world-1', '7 GB')] }],
  ['reports no number of cores', { pods: [figuresOf('world-1', 7000, {})] }],
  ['reports Pods of another node', { pods: [figuresOf('lobby-1', 1)] }],
  ['has an entry that is null', { pods: [null] }],
])('security 61: a kubelet that %s does not affect the figures of other nodes', async (_what, answer) => {
  const usage = await usageBy({ 'nodes/one/': lobby, 'nodes/two/': answer })
  expect(usage).toEqual([{ podName: 'lobby-1', memoryBytes: 5000 }])
})

test('invalid figures of the metrics server count as unknown', async () => {
  const metrics = (name: string, memory: unknown) => ({
    metadata: { name },
    containers: [{ name: 'instance', usage: { cpu: '1', memory } }],
  })
  const items = [null, metrics('world-1', null), metrics('world-1', '1.2.3'), metrics('lobby-1', '5000')]
  expect(await usageBy({ 'metrics.k8s.io': { items } })).toEqual([{ podName: 'lobby-1', memoryBytes: 5000 }])
})

test('the usage of an injected container does not count', async () => {
  const usage = (memory: string) => ({ cpu: '1', memory })
  const containers = [
    { name: 'proxy', usage: usage('900') },
    { name: 'instance', usage: usage('5000') },
  ]
  const items = [{ metadata: { name: 'lobby-1' }, containers }]
  expect(await usageBy({ 'metrics.k8s.io': { items } })).toEqual([{ podName: 'lobby-1', memoryBytes: 5000 }])
  const figures = (name: string, workingSetBytes: number) => ({ name, memory: { workingSetBytes } })
  const summary = { ...figuresOf('lobby-1', 5900), containers: [figures('proxy', 900), figures('instance', 5000)] }
  expect(await usageBy({ 'nodes/one/': { pods: [summary] } })).toEqual([{ podName: 'lobby-1', memoryBytes: 5000 }])
})

test('each outage of the figures is logged once, with its reason', async () => {
  let ahead = 0
  const time = performance.now.bind(performance)
  jest.spyOn(performance, 'now').mockImplementation(() => time() + ahead)
  const logged: string[] = []
  const answers: Record<string, unknown> = {}
  const read = createPodUsage(clientWith(answers), pino({}, { write: (line: string) => void logged.push(line) }))
  const refresh = async () => {
    ahead += 11_000
    return (await read(pods)).length
  }
  const isKnown = (isThere: boolean) => until(async () => (await read(pods)).length > 0 === isThere)
  await refresh()
  expect(logged).toEqual([expect.stringContaining('the cluster has no metrics server')])

  answers['nodes/one/'] = lobby
  await refresh()
  await isKnown(true)
  answers['metrics.k8s.io'] = new AppError('UNAVAILABLE', 'no response')
  await refresh()
  await isKnown(false)
  await refresh()
  expect(logged.slice(1)).toEqual([expect.stringContaining('the cluster cannot be asked')])
  jest.restoreAllMocks()
})

test.each([
  ['12345678n', 0.012345678],
  ['250m', 0.25],
  ['2', 2],
  ['512Ki', 2 ** 19],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['7M', 7e6],
  ['3k', 3000],
  ['5u', 5e-6],
  ['2P', 2e15],
  ['1E', 1e18],
  ['3Pi', 3 * 2 ** 50],
  ['2Ei', 2 ** 61],
  ['1e9', 1e9],
  ['12E3', 12_000],
  ['5e-1', 0.5],
  ['1.', 1],
  ['.5', 0.5],
  ['+2', 2],
  ['-5', -5],
])('the quantity %s is parsed', (text, value) => {
  expect(parseQuantity(text) / value).toBeCloseTo(1)
})

test.each(['', ' 1', '.', '-', '1.2.3', '1Ri', '1K', '1 Gi', '1e', '1e5Ki', '1e999', '0x10', 'NaN', '1,5'])(
  'the text "%s" is no quantity',
  (text) => {
    expect(parseQuantity(text)).toBeNaN()
  },
)
