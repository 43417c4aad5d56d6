import { coresUsed } from '../../../src/platform/deployments/monitoring/usageMeter'
import { createUsageMeter } from '../../../src/platform/deployments/monitoring/usageMeter'
import type { Runtime, Usage } from '../../../src/platform/runtime/runtime'

const usage = (runId: string, cpuMs: number): Usage => ({ podName: 'pod', runId, cpuMs, memoryBytes: 2 ** 30 })

test.each([
  ['half a core', usage('a', 1000), usage('a', 1500), 0.5],
  ['two cores', usage('a', 1000), usage('a', 3000), 2],
  ['no usage before the second sample', undefined, usage('a', 1500), undefined],
  ['no usage after a restart, although the new run has used more', usage('a', 1000), usage('b', 1500), undefined],
  ['no usage if exited processes have lowered the counter', usage('a', 1000), usage('a', 900), undefined],
])('decisions §7: %s', (_case, earlier, later, cores) => {
  expect(coresUsed(earlier, later, 1000)).toBe(cores)
})

test('the usage of a restarted instance is not computed from its previous run', async () => {
  let now = 0
  let sample = [usage('a', 1000)]
  const meter = createUsageMeter({ sample: async () => sample } as unknown as Runtime, () => now)
  const cpu = async () => (await meter.read())('pod', { cpu: '1000m' }).cpu
  expect(await cpu()).toBe(0)
  now = 10_000
  sample = [usage('b', 9000)]
  expect(await cpu()).toBe(0)
  now = 20_000
  sample = [usage('b', 10_000)]
  expect(await cpu()).toBe(10)
})
