import { setTimeout as delay } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { announceEnding, type Ending } from '../../../src/platform/http/ending'
import { until } from '../../support/platform/until'

let app: FastifyInstance
let url: string
let inProgress = 0
let end: () => void
let events: string[]

beforeEach(() => {
  const gate = new Promise<void>((resolve) => (end = resolve))
  inProgress = 0
  events = []
  app = Fastify()
  app.get('/waiting', async () => {
    inProgress += 1
    await gate
    events.push('answered')
    return 'waited'
  })
  app.get('/quick', async () => 'quick')
})
afterEach(async () => {
  end()
  app.server.closeAllConnections()
  await app.close()
})

/** @param times in milliseconds */
async function listen(times: { notice: number; calls: number }): Promise<Ending> {
  const ending = announceEnding(app, times)
  url = await app.listen({ port: 0 })
  return ending
}

test('a replica that shuts down serves calls until clients use the others, and asks them to close their connections', async () => {
  const ending = await listen({ notice: 300, calls: 1000 })
  expect(ending.hasBegun).toBe(false)
  expect((await fetch(`${url}/quick`)).headers.get('connection')).toBe('keep-alive')
  const begunAt = performance.now()
  const over = ending.begin()
  expect(ending.hasBegun).toBe(true)
  const answer = await fetch(`${url}/quick`)
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  expect(ending.begin()).toBe(over)
  await over
  // Timers of Node.js may fire a millisecond early.
  expect(performance.now() - begunAt).toBeGreaterThan(290)
})

test('a shutdown waits for calls in progress', async () => {
  const ending = await listen({ notice: 0, calls: 3_600_000 })
  const waiting = fetch(`${url}/waiting`).then((answer) => answer.text())
  await until(() => inProgress === 1)
  const over = ending.begin().then(() => events.push('over'))
  // Time in which a shutdown that does not wait would be over.
  await delay(200)
  end()
  await over
  expect(events).toEqual(['answered', 'over'])
  expect(await waiting).toBe('waited')
})

test('a call that does not end delays the shutdown for a limited time only', async () => {
  const ending = await listen({ notice: 0, calls: 100 })
  const waiting = fetch(`${url}/waiting`).catch(() => undefined)
  await until(() => inProgress === 1)
  await ending.begin()
  expect(events).toEqual([])
  end()
  await waiting
})
