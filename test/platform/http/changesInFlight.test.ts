import Fastify, { type FastifyInstance } from 'fastify'
import { answerFailures } from '../../../src/platform/http/envelope'
import { limitChangesInFlight } from '../../../src/platform/http/limits/changesInFlight'
import { until } from '../../support/platform/until'

let app: FastifyInstance
let inFlight = 0
let end: () => void

beforeEach(async () => {
  inFlight = 0
  const gate = new Promise<void>((resolve) => (end = resolve))
  app = Fastify()
  app.decorateRequest('user', undefined)
  app.decorateRequest('activityActor', undefined)
  app.addHook('onRequest', async (request) => {
    const userId = Number(request.headers['x-user'])
    request.user = { userId, username: `user-${userId}`, role: 'operator', isAdmin: false, grants: new Map() }
  })
  answerFailures(app)
  limitChangesInFlight(app)
  app.route({
    method: ['GET', 'POST'],
    url: '/',
    async handler() {
      inFlight += 1
      await gate
      return { success: true }
    },
  })
  await app.ready()
})
afterEach(async () => {
  end()
  await app.close()
})

const call = (method: 'GET' | 'POST', userId: number) =>
  app.inject({ method, url: '/', headers: { 'x-user': `${userId}` } })

test('security 158: of hundreds of changes of a user, two hundred are in flight at a time, and the rest are refused', async () => {
  const statuses: number[] = []
  const flood = Array.from({ length: 300 }, async () => {
    const answer = await call('POST', 1)
    statuses.push(answer.statusCode)
    return answer
  })
  await until(() => inFlight === 200 && statuses.length === 100)
  expect(new Set(statuses)).toEqual(new Set([429]))
  const others = [call('POST', 2), ...Array.from({ length: 300 }, () => call('GET', 1))]
  await until(() => inFlight === 501)
  end()
  const answers = await Promise.all(flood)
  const refused = answers.filter(({ statusCode }) => statusCode === 429)
  expect(refused).toHaveLength(100)
  expect(refused[0]!.headers['retry-after']).toBe('1')
  expect(refused[0]!.json()).toMatchObject({
    message: '200 of your calls are in progress. Try again when some of them have finished.',
  })
  for (const { statusCode } of await Promise.all(others)) expect(statusCode).toBe(200)
  expect((await call('POST', 1)).statusCode).toBe(200)
})
