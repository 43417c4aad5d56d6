import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import type { InstanceSpec, Runtime } from '../../../../src/platform/runtime/runtime'
import { addWarning, createNamespace, TEST_IMAGE, type TestCluster } from '../../../support/platform/cluster'
import { createAccount, deployedRights, type Right } from '../../../support/platform/clusterAccount'
import { openClusterRuntime } from '../../../support/platform/clusterRuntime'
import type { FreshState } from '../../../support/platform/freshState'
import { ANSWERING_PROGRAM, instanceSpec } from '../../../support/platform/instanceSpec'
import { until } from '../../../support/platform/until'
import { createTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

/** Each right of the platform's roles, and what fails without it. */
const NEEDED: Record<Right, Step> = {
  'list pods': 'list instances',
  'watch pods': 'start',
  'create pods': 'start',
  'patch pods': 'start',
  'patch pods/status': 'start',
  'get pods/log': 'start',
  'list events': 'explain',
  'get pods/attach': 'write',
  'create pods/attach': 'write',
  'delete pods': 'remove',
  'list services': 'publish',
  'create services': 'publish',
  'patch services': 'publish',
  'delete services': 'publish',
  'list pods.metrics.k8s.io': 'measure',
  'list nodes': 'find nodes',
}

type Step = 'list instances' | 'find nodes' | 'publish' | 'start' | 'explain' | 'write' | 'measure' | 'stop' | 'remove'

const SPEC = instanceSpec({
  podName: 'pod-rights',
  command: ['node', '-e', ANSWERING_PROGRAM],
  ready: 'Ready',
  stop: { command: 'stop', timeoutSeconds: 5 },
})

/** Time for a step. A missing right mostly means that it never happens. */
const SECONDS = 30

/** Tests that the platform needs each right of its roles, and no other. */
export function rightsOnCluster(cluster: () => TestCluster, state: () => FreshState): void {
  const failed = new Map<Right | 'all', Step | undefined>()

  /** Uses everything that needs a right. @returns the first step that fails */
  async function useAll(namespace: string, without?: Right): Promise<Step | undefined> {
    const directory = createTemporaryDirectory('rights')
    mkdirSync(join(directory, 'suite'))
    await createNamespace(cluster(), namespace, directory)
    const kubeconfig = await createAccount(cluster(), namespace, directory, without)
    const refused: string[] = []
    const runtime = openClusterRuntime(createClusterClient({ kubeconfig }, namespace), state(), {
      image: TEST_IMAGE,
      log: pino({ level: 'warn' }, { write: (line) => void refused.push(line) }),
    })
    try {
      return await firstFailure(runtime, namespace, { ...SPEC, podName: `pod-${namespace}` }, refused)
    } finally {
      await runtime.close()
    }
  }

  async function firstFailure(
    runtime: Runtime,
    namespace: string,
    spec: InstanceSpec,
    refused: string[],
  ): Promise<Step | undefined> {
    const { podName } = spec
    const find = async () => (await runtime.list()).find((run) => run.podName === podName)
    const isRefused = (text: string) => refused.some((line) => line.includes(text))
    const published = [{ deployment: 'suite', port: 25_565, expose: 'none' as const }]
    const steps: Record<Step, () => Promise<unknown>> = {
      'list instances': () => runtime.list(),
      'find nodes': () => runtime.nodes!(),
      publish: async () => {
        await runtime.publish!(published)
        await runtime.publish!([])
        if (isRefused('refuses the Service')) throw new Error('refused')
      },
      start: async () => {
        await runtime.ensure(spec)
        const run = await until(find, (found) => found?.state === 'RUNNING' || found?.state === 'EXITED', SECONDS)
        if (run?.state !== 'RUNNING') throw new Error('refused')
      },
      explain: async () => {
        const waiting = { ...spec, podName: `${podName}-waits`, node: 'missing' }
        await runtime.ensure(waiting)
        await addWarning(cluster(), namespace, waiting.podName, 'FailedMount', 'no such volume')
        const lines = async () => (await runtime.history(waiting.podName, 100)).map(({ content }) => content)
        await until(lines, (texts) => texts.includes('[System] FailedMount: no such volume'), 2 * SECONDS)
      },
      write: async () => {
        await runtime.write(podName, 'hello')
        await until(
          () => runtime.history(podName, 100),
          (lines) => lines.some(({ content }) => content === 'heard hello'),
          SECONDS,
        )
      },
      measure: async () => {
        // The cluster is read in the background: eventually there are figures, or the log has the reason why not.
        const isUnknown = () => isRefused('usage of instances is unknown')
        await until(async () => (await runtime.sample()).length > 0 || isUnknown(), Boolean, SECONDS).catch(
          () => undefined,
        )
        if (isUnknown()) throw new Error('refused')
      },
      stop: async () => {
        await runtime.stop(podName)
        await until(find, (run) => run?.state === 'EXITED', SECONDS)
      },
      remove: () => runtime.remove(podName),
    }
    for (const [name, step] of Object.entries(steps)) {
      const isDone = await step().then(
        () => true,
        () => false,
      )
      if (!isDone) return name as Step
    }
    return undefined
  }

  beforeAll(async () => {
    const rights: (Right | 'all')[] = ['all', ...(Object.keys(NEEDED) as Right[])]
    await Promise.all(
      rights.map(async (right, at) => {
        failed.set(right, await useAll(`rights-${at}`, right === 'all' ? undefined : right))
      }),
    )
    // Steps that are refused wait for their time.
  }, 400_000)

  test('each right of the manifests, and no other, has a test in which it is missing', () => {
    const { role, clusterRole } = deployedRights()
    expect([...role, ...clusterRole].sort()).toEqual(Object.keys(NEEDED).sort())
  })

  test('decisions §15: the rights of the manifests are enough', () => {
    expect(failed.get('all')).toBeUndefined()
  })

  test.each(Object.entries(NEEDED) as [Right, Step][])(
    'without the right to %s the platform fails to %s',
    (right, step) => {
      expect(failed.get(right)).toBe(step)
    },
  )
}
