import type { Caller } from '../../../src/platform/caller'
import { createActiveWork } from '../../../src/platform/http/activeWork'
import { until } from '../../support/platform/until'

const caller = { userId: 7, username: 'ann', isAdmin: false, role: 'operator' } as unknown as Caller
const problem = new Error('timeout exceeded when trying to connect')

test('work of a deleted user ends also where the database fails at that moment', async () => {
  let present = new Map([[caller.userId, caller]])
  let fails = false
  const changed: (() => void)[] = []
  const logged: unknown[] = []
  const { add } = createActiveWork({
    callers: { onChange: (listener: () => void) => void changed.push(listener), find: async () => new Map() } as never,
    users: {
      async find() {
        if (!fails) return present
        fails = false
        throw problem
      },
    },
    fileAccess: {} as never,
    log: { warn: (...entry: unknown[]) => void logged.push(entry) } as never,
  })
  let isEnded = false
  add(caller, { limitTo: () => true, end: () => (isEnded = true) })
  present = new Map()
  fails = true
  changed.forEach((listener) => listener())
  await until(() => isEnded)
  expect(logged).toHaveLength(1)
})
