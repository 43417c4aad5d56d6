import type { V1Pod } from '@kubernetes/client-node'
import pino from 'pino'
import { PodConsole } from '../../../../src/platform/runtime/kubernetes/console/podConsole'
import type { ConsoleStore } from '../../../../src/platform/runtime/kubernetes/console/consoleStore'
import { createPodMessages } from '../../../../src/platform/runtime/kubernetes/podMessages'
import { createPodReadiness } from '../../../../src/platform/runtime/kubernetes/podReadiness'
import type { PodRuns } from '../../../../src/platform/runtime/kubernetes/podRuns'
import type { Pods } from '../../../../src/platform/runtime/kubernetes/pods'
import { RUN_ANNOTATION } from '../../../../src/platform/runtime/kubernetes/podSpec'
import { createConsoleStore } from '../../../../src/platform/state/deployments/consoles'
import { freshState, type FreshState } from '../../../support/platform/freshState'
import { until } from '../../../support/platform/until'

const log = pino({ level: 'silent' })
let state: FreshState
let isAway: boolean
let console: PodConsole
beforeAll(async () => {
  state = await freshState()
})
beforeEach(() => {
  isAway = false
})
afterEach(() => console.close())
afterAll(() => state.close())

const podOf = (name: string): V1Pod => ({
  metadata: {
    name,
    uid: 'run-1',
    annotations: { [RUN_ANNOTATION]: JSON.stringify({ ready: 'Done', stop: { timeoutSeconds: 30 } }) },
  },
})

/** The console of a program that has printed its ready line. Its store fails while `isAway` is set. */
function openConsole(podName: string): PodConsole {
  const store = Object.fromEntries(
    Object.entries(createConsoleStore(state.db)).map(([name, call]) => [
      name,
      async (...values: unknown[]) => {
        if (isAway) throw new Error('The database does not answer')
        return (call as (...values: unknown[]) => unknown)(...values)
      },
    ]),
  ) as unknown as ConsoleStore
  return new PodConsole({
    podName,
    store,
    reader: 'this',
    run: () => ({ runId: 'run-1', hasLog: true, hasEnded: false, isLogGone: false, closingLines: [] }),
    async *readLog() {
      yield [{ time: '001800000000.000000000', text: 'Done' }]
    },
    log,
  })
}

test('the ready line of an instance is found although the state does not answer when the watch begins', async () => {
  const pod = podOf('late')
  console = openConsole('late')
  const marked: unknown[] = []
  const readiness = createPodReadiness({
    runs: { put: (ready: V1Pod) => void marked.push(ready) } as unknown as PodRuns,
    pods: { setReady: async (ready: V1Pod) => ready } as unknown as Pods,
    consoleOf: () => console,
    retry: () => undefined,
    log,
  })
  isAway = true
  await expect(readiness.watch(pod)).rejects.toThrow('does not answer')
  isAway = false
  await readiness.watch(pod)
  await until(() => marked.length > 0)
  expect(marked).toEqual([pod])
  await readiness.endWatch('late')
})

test('a message of the cluster that could not be stored is written with the next step', async () => {
  const pod = podOf('told')
  console = openConsole('told')
  const messages = createPodMessages(() => console)
  const reasons = [{ key: 'Unschedulable', text: 'Unschedulable: no node' }]
  isAway = true
  await expect(messages.write(pod, reasons)).rejects.toThrow('does not answer')
  isAway = false
  await messages.write(pod, reasons)
  await messages.write(pod, reasons)
  expect((await console.history(10)).filter(({ type }) => type === 'system')).toEqual([
    expect.objectContaining({ content: '[System] Unschedulable: no node' }),
  ])
})
