import type { V1Pod } from '@kubernetes/client-node'
import type { ClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import { reportPodEvents } from '../../../../src/platform/runtime/kubernetes/podEvents'

const pods = new Map(
  Array.from({ length: 100 }, (_, at): [string, V1Pod] => [
    `pod-${at}`,
    { metadata: { name: `pod-${at}`, uid: `uid-${at}` }, status: { phase: 'Pending' } },
  ]),
)

test('with more pending Pods than can be read in a minute, the events of each are read in turn', async () => {
  jest.useFakeTimers()
  try {
    const read = new Map<string, number>()
    const client = {
      namespace: 'games',
      call: async (send: (core: object) => unknown) =>
        send({
          listNamespacedEvent: ({ fieldSelector }: { fieldSelector: string }) => {
            read.set(fieldSelector, (read.get(fieldSelector) ?? 0) + 1)
            return { items: [] }
          },
        }),
    } as unknown as ClusterClient
    const stop = reportPodEvents({
      client,
      runs: {
        get: (podName) => pods.get(podName),
        watch(listener) {
          for (const podName of pods.keys()) listener(podName)
          return () => undefined
        },
      },
      isActive: () => true,
      messages: { write: async () => undefined },
      log: { warn: () => undefined },
    })
    await jest.advanceTimersByTimeAsync(500_000)
    stop()
    expect(read.size).toBe(pods.size)
    expect(Math.max(...read.values()) - Math.min(...read.values())).toBeLessThanOrEqual(2)
  } finally {
    jest.useRealTimers()
  }
})
