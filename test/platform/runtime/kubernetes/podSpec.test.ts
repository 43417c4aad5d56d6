import { execFileSync } from 'node:child_process'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { podOf, KEEP_FINALIZER } from '../../../../src/platform/runtime/kubernetes/podSpec'
import { timeOfCopyMarker } from '../../../../src/platform/runtime/copyMarker'
import type { InstanceSpec } from '../../../../src/platform/runtime/runtime'
import { COPY_MARKER } from '../../../../src/platform/share/internalNames'
import { LOBBY, POD_SETTINGS } from '../../../support/platform/lobbyPods'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

test('decisions §15: a Pod is restricted, has no service account token, and mounts only what its instance may see of the claim', () => {
  const { metadata, spec } = podOf(LOBBY, POD_SETTINGS)
  expect(metadata?.annotations).toMatchObject({ 'quarterdeck.io/state': 'state-1' })
  expect(metadata?.labels).toEqual({
    'app.kubernetes.io/managed-by': 'quarterdeck',
    'app.kubernetes.io/name': 'lobby',
    'app.kubernetes.io/instance': 'ab12cd-lobby',
  })
  expect(spec).toMatchObject({
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    volumes: [{ name: 'share', persistentVolumeClaim: { claimName: 'share' } }],
  })
  const [container] = spec!.containers
  expect(container).toMatchObject({
    name: 'instance',
    image: 'java:21',
    workingDir: '/data',
    stdin: true,
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    resources: { limits: { cpu: '1500m', memory: String(2 ** 30) } },
    volumeMounts: [
      { name: 'share', mountPath: '/data', subPath: 'network/lobby' },
      { name: 'share', mountPath: '/nfsshare/maps', subPath: 'maps', readOnly: true },
      {
        name: 'share',
        mountPath: '/run/quarterdeck/peers',
        subPath: '.quarterdeck-peers/ab12cd-lobby',
        readOnly: true,
      },
    ],
  })
})

test('the cluster expands no variables in commands and environment values', () => {
  const [container] = podOf(LOBBY, POD_SETTINGS).spec!.containers
  expect(container?.command).toEqual(['java', '-Dcost=$$5', '$$(HOME)'])
  expect(container?.env).toContainEqual({ name: 'PRICE', value: '$$$$ and $$(PORT)' })
})

test('a copy is made on the node, or in the shared area where files of it are kept', () => {
  const mountOf = (spec: InstanceSpec) => podOf(spec, POD_SETTINGS).spec?.containers[0]?.volumeMounts?.[0]
  const copied = podOf({ ...LOBBY, copy: true }, POD_SETTINGS)
  expect(copied.spec?.initContainers?.[0]?.volumeMounts).toEqual([
    { name: 'share', mountPath: '/source', subPath: 'network/lobby', readOnly: true },
    { name: 'data', mountPath: '/data' },
  ])
  expect(copied.spec?.volumes).toContainEqual({ name: 'data', emptyDir: {} })
  expect(copied.metadata?.finalizers).toBeUndefined()
  const kept = { ...LOBBY, copy: true, keep: ['list.txt'] }
  expect(mountOf(kept)).toEqual({ name: 'share', mountPath: '/data', subPath: '.quarterdeck-copies/ab12cd-lobby' })
  expect(podOf(kept, POD_SETTINGS).metadata?.finalizers).toEqual([KEEP_FINALIZER])
})

test('security 172: a copy whose files are kept is marked when it is complete', async () => {
  const [source, data] = [join(directory(), 'source'), join(directory(), 'data')]
  await mkdir(join(source, 'plugins', '.quarterdeck-unfinished.part'), { recursive: true })
  await mkdir(data)
  await writeFile(join(source, 'plugins', 'list.txt'), 'text')
  const copy = (spec: InstanceSpec) => {
    const [program = '', ...args] = podOf(spec, POD_SETTINGS).spec!.initContainers![0]!.command!
    execFileSync(
      program,
      args.map((arg) => arg.replaceAll('/source', source).replaceAll('/data', data)),
    )
  }
  copy({ ...LOBBY, copy: true })
  expect(await readdir(data)).toEqual(['plugins'])
  copy({ ...LOBBY, copy: true, keep: ['plugins'] })
  expect(await readdir(join(data, 'plugins'))).toEqual(['list.txt'])
  const { ctimeMs } = await stat(join(data, 'plugins', 'list.txt'))
  expect(await timeOfCopyMarker(join(data, COPY_MARKER))).toBeGreaterThanOrEqual(ctimeMs)
})

test('the copy of an instance has its limits, which a quota may demand of each container', () => {
  const { initContainers, containers } = podOf({ ...LOBBY, copy: true }, POD_SETTINGS).spec!
  expect(initContainers?.[0]?.resources).toEqual(containers[0]?.resources)
  expect(containers[0]?.resources).toEqual({ limits: { cpu: '1500m', memory: String(2 ** 30) } })
})
