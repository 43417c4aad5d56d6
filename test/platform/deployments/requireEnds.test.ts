import { requireEnds } from '../../../src/platform/deployments/requireEnds'
import { AppError } from '../../../src/platform/errors'
import type { RuntimeInstance } from '../../../src/platform/runtime/runtime'

const rows = ['lobby-1', 'lobby-2'].map((name) => ({ pod_name: name, name }))
const run = (podName: string, state: RuntimeInstance['state']): RuntimeInstance => ({
  podName,
  runId: podName,
  state,
  ip: '',
  port: undefined,
  startedAt: 0,
  exit: undefined,
})
const hung = {
  requireAnswer: () => Promise.reject(new AppError('UNAVAILABLE', 'The shared area does not answer.')),
  check: async () => undefined,
  isInitialised: true,
}

test('security 220: an instance that ends while the shared area hangs is not waited for', async () => {
  const runs = [run('lobby-1', 'RUNNING'), run('lobby-2', 'STOPPING')]
  await expect(requireEnds(rows, runs, hung, 'It continues.')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'lobby-2 has not ended yet: The shared area does not answer.',
  })
})

test('instances that run are waited for, whatever the shared area does, and those that end while it answers', async () => {
  await requireEnds(rows, [run('lobby-1', 'RUNNING')], hung, '')
  await requireEnds(rows, [run('lobby-1', 'STOPPING')], undefined, '')
  await requireEnds(rows, [run('other', 'STOPPING')], hung, '')
})
