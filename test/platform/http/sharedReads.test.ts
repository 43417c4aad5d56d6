import type { Runtime } from '../../../src/platform/runtime/runtime'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'

let platform: TestPlatform
let ann: Account
let reads = 0

beforeAll(async () => {
  platform = await startPlatform({
    overrides: {
      wrapRuntime: (runtime) =>
        Object.create(runtime, {
          list: {
            value: () => {
              reads += 1
              return runtime.list()
            },
          },
        }) as Runtime,
    },
  })
  ann = await platform.register('ann')
})
afterAll(() => platform.close())

test.each(['/api/deployments?instances=true', '/api/discovery?deployment=lobby', '/api/health'])(
  'security 65: two hundred concurrent calls of %s share a few reads of the runtime',
  async (path) => {
    reads = 0
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => platform.call('GET', path, { token: ann.token })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(reads).toBeLessThan(50)
  },
)
