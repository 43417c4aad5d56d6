import type { Runtime } from '../../../src/platform/runtime/runtime'
import { callsBegun } from '../../support/platform/callsBegun'
import { usePlatform } from '../../support/platform/startPlatform'

const { platform, account: ann } = usePlatform('ann', () => ({
  overrides: {
    wrapRuntime: (runtime) =>
      Object.create(runtime, {
        list: {
          value: async () => {
            reads += 1
            await gate
            return runtime.list()
          },
        },
      }) as Runtime,
  },
}))
let reads = 0
/** The runtime answers when it resolves. */
let gate = Promise.resolve()

test.each(['/api/deployments?instances=true', '/api/discovery?deployment=lobby', '/api/health'])(
  'security 65: two hundred concurrent calls of %s share a few reads of the runtime',
  async (path) => {
    reads = 0
    gate = callsBegun(200)
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => platform().call('GET', path, { token: ann().token })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    // The manager reads too.
    expect(reads).toBeLessThan(20)
  },
)
