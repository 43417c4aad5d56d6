import { setTimeout as delay } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { announceEnding, type Ending } from '../../../src/platform/http/ending'

let app: FastifyInstance
let ending: Ending
let url: string

beforeEach(async () => {
  app = Fastify()
  ending = announceEnding(app, { notice: 300, calls: 1000 })
  app.get('/slow', async () => delay(600, 'slow'))
  app.get('/endless', async () => delay(10_000, 'endless', { ref: false }))
  app.get('/quick', async () => 'quick')
  url = await app.listen({ port: 0 })
})
afterEach(async () => {
  app.server.closeAllConnections()
  await app.close()
})

const timed = async (work: Promise<unknown>) => {
  const since = performance.now()
  await work
  return performance.now() - since
}

test('a replica that shuts down serves calls until clients use the others, and asks them to close their connections', async () => {
  expect(ending.hasBegun).toBe(false)
  expect((await fetch(`${url}/quick`)).headers.get('connection')).toBe('keep-alive')
  const over = ending.begin()
  expect(ending.hasBegun).toBe(true)
  const answer = await fetch(`${url}/quick`)
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  expect(ending.begin()).toBe(over)
  const ms = await timed(over)
  expect(ms).toBeGreaterThan(200)
  expect(ms).toBeLessThan(900)
})

test('a shutdown waits for calls in progress', async () => {
  const slow = fetch(`${url}/slow`).then((answer) => answer.text())
  await delay(100)
  expect(await timed(ending.begin())).toBeGreaterThan(400)
  expect(await slow).toBe('slow')
})

test('a call that does not end delays the shutdown for a limited time only', async () => {
  const endless = fetch(`${url}/endless`).catch(() => undefined)
  await delay(100)
  const ms = await timed(ending.begin())
  expect(ms).toBeGreaterThan(1200)
  expect(ms).toBeLessThan(2500)
  app.server.closeAllConnections()
  await endless
})
