import { createHmac } from 'node:crypto'
import { collectRoutes, type CollectedRoute } from '../../support/platform/collectRoutes'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'

let platform: TestPlatform
let routes: CollectedRoute[]
let ann: Account

beforeAll(async () => {
  ;({ started: platform, routes } = await collectRoutes(startPlatform))
  ann = await platform.register('ann')
})
afterAll(() => platform.close())

test('security 5: every route that requires a session refuses forged tokens', async () => {
  const [header, payload, signature] = ann.token.split('.') as [string, string, string]
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')
  const step = await platform.call('POST', '/api/auth/login', {
    body: { username: ann.username, password: ann.password },
  })
  const forged = {
    unsigned: `${unsigned}.${payload}.`,
    tampered: `${header}.${Buffer.from(JSON.stringify({ sub: '1', admin: true })).toString('base64url')}.${signature}`,
    signedWithNothing: `${header}.${payload}.${createHmac('sha256', '').update(`${header}.${payload}`).digest('base64url')}`,
    stepOne: String(step.body.data.sessionToken),
  }
  const asking = routes.filter(({ config }) => config?.access !== 'public')
  expect(asking.length).toBeGreaterThan(40)
  for (const { method, url } of asking) {
    for (const [kind, token] of Object.entries(forged)) {
      const { statusCode } = await platform.app.inject({
        method,
        url: url.replaceAll(/:\w+/g, 'nothing'),
        headers: { authorization: `Bearer ${token}` },
      })
      expect({ method, url, kind, statusCode }).toEqual({ method, url, kind, statusCode: 401 })
    }
  }
  expect((await platform.call('GET', '/api/sessions', { token: ann.token })).status).toBe(200)
})
