import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import type { Runtime } from '../../../../src/platform/runtime/runtime'
import {
  addWarning,
  clusterTitle,
  createNamespace,
  hasCluster,
  startCluster,
  type TestCluster,
} from '../../../support/platform/cluster'
import { createAccount } from '../../../support/platform/clusterAccount'
import { openClusterRuntime } from '../../../support/platform/clusterRuntime'
import { freshState, type FreshState } from '../../../support/platform/freshState'
import { instanceSpec } from '../../../support/platform/instanceSpec'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'

const SECONDS = 30

const directory = useTemporaryDirectory()
const closing: (() => Promise<void>)[] = []
let cluster: TestCluster
let state: FreshState

/** A runtime with the rights of the manifests, in a namespace of its own. */
async function openIn(namespace: string, without?: 'list events'): Promise<{ runtime: Runtime; logged: string[] }> {
  mkdirSync(join(directory(), namespace))
  await createNamespace(cluster, namespace, join(directory(), namespace))
  const kubeconfig = await createAccount(cluster, namespace, directory(), without)
  const logged: string[] = []
  const runtime = openClusterRuntime(createClusterClient({ kubeconfig }, namespace), state, {
    log: pino({ level: 'warn' }, { write: (line) => void logged.push(line) }),
  })
  closing.push(() => runtime.close())
  return { runtime, logged }
}

/** Stays pending if the node does not exist. */
const specOf = (podName: string, node: string | undefined) =>
  instanceSpec({ podName, node, command: ['sleep', '1000'], deployment: 'lobby', dataDirectory: '/lobby' })

const linesOf = async (runtime: Runtime, podName: string) =>
  (await runtime.history(podName, 100)).map(({ type, content }) => `${type}: ${content}`)

;(hasCluster ? describe : describe.skip)(clusterTitle('the events of Pods'), () => {
  beforeAll(async () => {
    cluster = await startCluster('--kwok')
    state = await freshState()
  }, 120_000)
  afterAll(async () => {
    for (const close of closing) await close()
    await state?.close()
    await cluster?.stop()
  }, 60_000)

  test('the console of a pending Pod shows each reason once, and not again what its status says', async () => {
    const { runtime, logged } = await openIn('events')
    await runtime.ensure(specOf('waits', 'missing'))
    await addWarning(cluster, 'events', 'waits', 'FailedMount', 'MountVolume.SetUp failed\nfor volume "data"')
    const mounted = 'system: [System] FailedMount: MountVolume.SetUp failed for volume "data"'
    await until(
      () => linesOf(runtime, 'waits'),
      (lines) => lines.includes(mounted),
      SECONDS,
    )
    await addWarning(cluster, 'events', 'waits', 'FailedAttachVolume', 'Multi-Attach error for volume "data"')
    const attached = 'system: [System] FailedAttachVolume: Multi-Attach error for volume "data"'
    const lines = await until(
      () => linesOf(runtime, 'waits'),
      (texts) => texts.includes(attached),
      SECONDS,
    )
    expect(lines).toEqual([expect.stringMatching(/^system: \[System\] Unschedulable: /), mounted, attached])
    expect(logged).toEqual([])
  })

  test('a console does not show events of a running Pod, or of an earlier Pod with the same name', async () => {
    const { runtime } = await openIn('others')
    await runtime.ensure(specOf('again', 'missing'))
    await addWarning(cluster, 'others', 'again', 'FailedMount', 'of the first Pod')
    await cluster.kubectl('-n', 'others', 'delete', 'pod', 'again', '--force', '--grace-period=0')
    await until(async () => (await runtime.list()).some(({ state: now }) => now === 'EXITED'), Boolean, SECONDS)
    await runtime.ensure(specOf('again', 'missing'))
    await runtime.ensure(specOf('runs', undefined))
    await until(
      async () => (await runtime.list()).some(({ podName, state: now }) => podName === 'runs' && now === 'RUNNING'),
      Boolean,
      SECONDS,
    )
    await addWarning(cluster, 'others', 'runs', 'Unhealthy', 'of a Pod that runs')
    await addWarning(cluster, 'others', 'again', 'FailedAttachVolume', 'of the second Pod')
    const lines = await until(
      () => linesOf(runtime, 'again'),
      (texts) => texts.includes('system: [System] FailedAttachVolume: of the second Pod'),
      SECONDS,
    )
    expect(lines.filter((line) => line.includes('first Pod'))).toEqual([])
    expect((await linesOf(runtime, 'runs')).filter((line) => line.includes('Unhealthy'))).toEqual([])
  })

  test('a claim that is being deleted, missing or not bound is named in the console, and the instance starts when it is there', async () => {
    const { runtime } = await openIn('claimless')
    const starts = (name: string) =>
      until(
        async () => (await runtime.list()).some(({ podName, state: now }) => podName === name && now === 'RUNNING'),
        Boolean,
        SECONDS,
      )
    const says = (podName: string, text: RegExp) =>
      until(
        () => linesOf(runtime, podName),
        (lines) => lines.some((line) => text.test(line)),
        SECONDS,
      )
    await runtime.ensure(specOf('runs', undefined))
    await starts('runs')
    // It stays for as long as a Pod uses it.
    await cluster.kubectl('-n', 'claimless', 'delete', 'pvc', 'quarterdeck-share', '--wait=false')
    await runtime.ensure(specOf('first', undefined))
    await says('first', /Unschedulable: .*persistentvolumeclaim "quarterdeck-share" is being deleted/)
    for (const podName of ['first', 'runs']) await runtime.kill(podName)
    await cluster.kubectl('-n', 'claimless', 'wait', '--for=delete', 'pvc/quarterdeck-share', '--timeout=30s')
    await runtime.ensure(specOf('second', undefined))
    await says('second', /Unschedulable: .*persistentvolumeclaim "quarterdeck-share" not found/)

    await cluster.kubectl('delete', 'pv', 'claimless')
    const spec = {
      accessModes: ['ReadWriteMany'],
      storageClassName: 'none',
      resources: { requests: { storage: '1Gi' } },
    }
    const metadata = { namespace: 'claimless', name: 'quarterdeck-share' }
    await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec }))
    // Until the scheduler knows of the claim, it gives a new Pod another reason, and the console shows only the first
    // one.
    await until(
      () =>
        cluster.kubectl('-n', 'claimless', 'get', 'pod', 'second', '-o', 'jsonpath={.status.conditions[*].message}'),
      (message) => message.includes('unbound immediate'),
      SECONDS,
    )
    await runtime.ensure(specOf('third', undefined))
    await says(
      'third',
      /Unschedulable: .*unbound immediate PersistentVolumeClaims.* Its claim is "quarterdeck-share"\.$/,
    )
    await cluster.kubectl('-n', 'claimless', 'delete', 'pvc', 'quarterdeck-share')
    await createNamespace(cluster, 'claimless', join(directory(), 'claimless'))
    await Promise.all(['second', 'third'].map(starts))
  })

  test('without the right to list events, instances still start, and the log reports it once', async () => {
    const { runtime, logged } = await openIn('refused', 'list events')
    await runtime.ensure(specOf('stays', 'missing'))
    await runtime.ensure(specOf('stays-too', 'missing'))
    await until(() => logged.some((line) => line.includes('the events of instances cannot be read')), Boolean, SECONDS)
    await runtime.ensure(specOf('starts', undefined))
    await until(
      async () => (await runtime.list()).some(({ podName, state: now }) => podName === 'starts' && now === 'RUNNING'),
      Boolean,
      SECONDS,
    )
    expect(logged).toHaveLength(1)
    // The scheduler may change its reason while the node gets ready.
    const lines = await linesOf(runtime, 'stays')
    expect(lines).toEqual(lines.map(() => expect.stringContaining('[System] Unschedulable: ') as string))
    expect(lines).not.toEqual([])
    expect(new Set(lines).size).toBe(lines.length)
  })
})
