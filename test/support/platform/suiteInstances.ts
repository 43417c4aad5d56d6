import { randomUUID } from 'node:crypto'
import type { InstanceSpec, Runtime, RuntimeInstance } from '../../../src/platform/runtime/runtime'
import { ANSWERING_PROGRAM, instanceSpec } from './instanceSpec'
import { until } from './until'

/** Instances of any driver, for the tests that every driver must pass. */
export function suiteInstances(runtime: () => Runtime) {
  const spec = (change: Partial<InstanceSpec> = {}): InstanceSpec =>
    instanceSpec({
      podName: `pod-${randomUUID().slice(0, 8)}`,
      command: ['node', '-e', ANSWERING_PROGRAM],
      stop: { command: 'stop', timeoutSeconds: 5 },
      ...change,
    })
  const find = async (podName: string) => (await runtime().list()).find((run) => run.podName === podName)
  const reaches = (podName: string, state: RuntimeInstance['state']) =>
    until(
      () => find(podName),
      (run) => run?.state === state,
    )
  const lines = async (podName: string) => (await runtime().history(podName, 1000)).map(({ content }) => content)
  const prints = (podName: string, text: string) =>
    until(
      () => lines(podName),
      (all) => all.includes(text),
    )
  return { spec, find, reaches, lines, prints }
}
