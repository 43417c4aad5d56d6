import type { IncomingMessage, ServerResponse } from 'node:http'
import pino from 'pino'
import { startInformer, type Informer } from '../../../../src/platform/runtime/kubernetes/informer'
import { startApiServer, type ApiServer } from '../../../support/platform/apiServer'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'

interface Item {
  metadata: { name: string; uid: string; resourceVersion: string }
}

const root = useTemporaryDirectory()
let api: ApiServer
let informer: Informer<Item>
/** What the server holds, and what it was asked for. */
let items: Item[]
let version: number
let lists: number
let watches: { from: string; response: ServerResponse }[]
let refuse: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
let reports: string[]
/** The reasons of its warnings. */
let logged: string[]

const itemOf = (name: string, at: number): Item => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: String(at) },
})

beforeEach(async () => {
  items = [itemOf('a', 1)]
  version = 10
  lists = 0
  watches = []
  reports = []
  logged = []
  refuse = undefined
  api = await startApiServer(root(), (request, response) => {
    if (refuse?.(request, response)) return
    const query = new URL(request.url ?? '', 'http://x').searchParams
    if (query.get('watch') !== 'true') {
      lists += 1
      return void response.end(JSON.stringify({ metadata: { resourceVersion: String(version) }, items }))
    }
    response.writeHead(200)
    response.flushHeaders()
    watches.push({ from: query.get('resourceVersion') ?? '', response })
  })
  informer = startInformer<Item>({
    client: api.client,
    path: '/items',
    log: pino(
      {},
      {
        write: (line) =>
          void logged.push((JSON.parse(line) as { err?: Error; msg: string }).err?.message ?? 'answers again'),
      },
    ),
    onChange: ({ metadata }) => void reports.push(`${metadata.name} ${metadata.resourceVersion}`),
    onDelete: ({ metadata }) => void reports.push(`${metadata.name} deleted`),
  })
})
afterEach(async () => {
  await informer.close()
  api.close()
})

const send = (type: string, object: unknown) => watches.at(-1)!.response.write(`${JSON.stringify({ type, object })}\n`)

test('a change, a new object and a deletion are reported once each', async () => {
  await until(() => watches.length === 1)
  send('MODIFIED', itemOf('a', 11))
  send('ADDED', itemOf('b', 12))
  send('DELETED', itemOf('a', 13))
  await until(() => reports.length === 4)
  expect(reports).toEqual(['a 1', 'a 11', 'b 12', 'a deleted'])
  expect(informer.all().map(({ metadata }) => metadata.name)).toEqual(['b'])
})

test('a response that arrives after the deletion of its object does not bring it back', async () => {
  await until(() => watches.length === 1)
  send('MODIFIED', itemOf('a', 11))
  send('DELETED', itemOf('a', 12))
  await until(() => reports.length === 3)
  // A request that removes a finalizer is answered with the object as it was last.
  informer.put(itemOf('a', 12))
  expect(informer.get('a')).toBeUndefined()
  send('ADDED', { metadata: { name: 'a', uid: 'uid-of-another', resourceVersion: '13' } })
  await until(() => informer.get('a'))
  informer.put(itemOf('a', 12))
  expect(informer.get('a')?.metadata.uid).toBe('uid-of-another')
  expect(reports).toEqual(['a 1', 'a 11', 'a deleted', 'a 13'])
})

test('an object that a list does not contain yet is restored by the watch', async () => {
  await until(() => watches.length === 1)
  informer.put(itemOf('b', 12))
  send('ERROR', { code: 410, message: 'too old' })
  await until(() => watches.length === 2)
  expect(informer.get('b')).toBeUndefined()
  send('ADDED', itemOf('b', 12))
  await until(() => informer.get('b'))
})

test('a watch that ends is resumed at the newest version, a bookmark included, without another list', async () => {
  await until(() => watches.length === 1)
  send('MODIFIED', itemOf('a', 11))
  send('BOOKMARK', { metadata: { resourceVersion: '20' } })
  watches[0]!.response.end()
  await until(() => watches.length === 2)
  expect(watches.map(({ from }) => from)).toEqual(['10', '20'])
  expect(lists).toBe(1)
})

test.each([
  ['an event', () => send('ERROR', { code: 410, message: 'too old' })],
  [
    'a refused request',
    () => {
      refuse = (request, response) => {
        if (!request.url?.includes('watch=true')) return false
        refuse = undefined
        response.writeHead(410).end('{}')
        return true
      }
      watches[0]!.response.end()
    },
  ],
])('an expired version, reported by %s, causes a new list that detects deleted objects', async (_how, forget) => {
  await until(() => watches.length === 1)
  items = [itemOf('c', 30)]
  version = 40
  forget()
  await until(() => watches.length === 2)
  expect(reports).toEqual(['a 1', 'a deleted', 'c 30'])
  expect(watches[1]!.from).toBe('40')
})

test('after a broken connection or a response of 500 the request is retried, and known objects are kept', async () => {
  await until(() => watches.length === 1)
  let refused = 0
  refuse = (_request, response) => {
    refused += 1
    response.writeHead(500).end()
    return true
  }
  watches[0]!.response.destroy()
  await until(() => refused >= 2)
  expect(informer.get('a')).toEqual(itemOf('a', 1))
  refuse = undefined
  await until(() => watches.length === 2)
  send('MODIFIED', itemOf('a', 50))
  await until(() => reports.includes('a 50'))
})

test('each reason why the cluster cannot be watched is logged once, until it changes', async () => {
  await until(() => watches.length === 1)
  let refused = 0
  let status = 500
  refuse = (_request, response) => {
    refused += 1
    response.writeHead(status).end(`{"message": "reason ${status}"}`)
    return true
  }
  watches[0]!.response.destroy()
  await until(() => refused >= 2)
  status = 503
  await until(() => logged.includes('reason 503'))
  refuse = undefined
  await until(() => watches.length === 2)
  await until(() => logged.includes('answers again'))
  expect(logged.slice(-3)).toEqual(['reason 500', 'reason 503', 'answers again'])
})

test('a response to a request of the platform is not replaced by an older event', async () => {
  await until(() => watches.length === 1)
  informer.put(itemOf('a', 60))
  send('MODIFIED', itemOf('a', 59))
  send('MODIFIED', itemOf('b', 61))
  await until(() => reports.includes('b 61'))
  expect(informer.get('a')).toEqual(itemOf('a', 60))
})

describe('security 61: a server that', () => {
  const watching = (request: IncomingMessage) => request.url?.includes('watch=true') ?? false

  test.each([
    [
      'forgets every version at once',
      (request: IncomingMessage, response: ServerResponse) => {
        if (!watching(request)) return false
        response.writeHead(410).end('{}')
        return true
      },
    ],
    [
      'ends every watch at once',
      (request: IncomingMessage, response: ServerResponse) => {
        if (!watching(request)) return false
        response.writeHead(200).end()
        return true
      },
    ],
  ])('%s is sent only a few requests a second', async (_what, answer) => {
    await until(() => watches.length === 1)
    let asked = 0
    refuse = (request, response) => {
      asked += 1
      return answer(request, response)
    }
    watches[0]!.response.end()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(asked).toBeGreaterThan(1)
    expect(asked).toBeLessThan(16)
  })

  test.each([
    ['sends a version that is not a number', () => send('MODIFIED', itemOf('a', 'newest' as unknown as number))],
    ['sends invalid JSON', () => watches[0]!.response.write('<html>Bad gateway</html>\n')],
    ['sends null', () => watches[0]!.response.write('null\n')],
    ['sends an object without metadata', () => send('ADDED', {})],
    ['refuses to resume at the version that it sent', () => send('ERROR', { code: 500, message: 'too large version' })],
    ['sends an event that does not end', () => watches[0]!.response.write('x'.repeat(9 * 2 ** 20))],
  ])('%s is listed and watched again', async (_what, attack) => {
    await until(() => watches.length === 1)
    attack()
    watches[0]!.response.end()
    await until(() => watches.length === 2)
    items = [itemOf('a', 70)]
    watches[1]!.response.end()
    await until(() => watches.length === 3)
    send('MODIFIED', itemOf('a', 80))
    await until(() => reports.includes('a 80'))
    expect(informer.all().map(({ metadata }) => metadata.name)).toEqual(['a'])
  })

  test('sends an unknown version is not asked to resume at it', async () => {
    await until(() => watches.length === 1)
    send('MODIFIED', itemOf('a', 'newest' as unknown as number))
    refuse = (request, response) => {
      if (!request.url?.includes('resourceVersion=newest')) return false
      response.writeHead(400).end('{}')
      return true
    }
    watches[0]!.response.end()
    await until(() => watches.length === 2)
    expect(lists).toBe(2)
  })
})

test.each([401, 403])(
  'security 236: while the right to watch is missing (%d), other responses of the server do not make the copy current',
  async (status) => {
    await until(() => watches.length === 1)
    let refused = 0
    let probed = 0
    refuse = ({ url }, response) => {
      if (url === '/version') probed += 1
      else refused += 1
      response.writeHead(url === '/version' ? 200 : status).end('{}')
      return true
    }
    // Its response arrives after the watch has ended.
    informer.probe()
    watches[0]!.response.end()
    await until(() => refused >= 1)
    const { syncedAt } = informer
    for (let round = 0; round < 10; round++) {
      informer.probe()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(informer.syncedAt).toBe(syncedAt)
    expect(lists).toBe(1)
    refuse = undefined
    await until(() => watches.length === 2)
    const resumed = informer.syncedAt
    expect(resumed).toBeGreaterThan(syncedAt)
    await until(() => {
      informer.probe()
      return informer.syncedAt > resumed
    })
    expect(probed).toBeLessThan(2)
  },
)

test('security 236: a watch that the server accepts and then denies is listed and watched again', async () => {
  await until(() => watches.length === 1)
  items = [itemOf('b', 30)]
  send('ERROR', { code: 403, message: 'denied' })
  await until(() => watches.length === 2)
  expect(lists).toBe(2)
  expect(informer.all()).toEqual(items)
})

test('setting the clock neither hides that the cluster is silent nor invents it', async () => {
  await until(() => watches.length === 1)
  send('MODIFIED', itemOf('a', 11))
  await until(() => reports.length === 2)
  const now = Date.now.bind(Date)
  const heard = performance.now()
  const ageUnder = (shiftMs: number) => {
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + shiftMs)
    const age = Date.now() - informer.syncedAt
    clock.mockRestore()
    return age
  }
  // The same time for each caller: the overview is unchanged while a cluster is silent.
  const times = new Set<number>()
  await until(() => {
    times.add(informer.syncedAt)
    return performance.now() - heard > 100
  })
  expect(times.size).toBe(1)
  const ages = [0, -3_600_000, 3_600_000, 0].map(ageUnder)
  for (const age of ages) {
    expect(age).toBeGreaterThan(90)
    expect(age).toBeLessThan(60_000)
  }
})
