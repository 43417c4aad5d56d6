import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pino from 'pino'
import type { Peers } from '../../../../src/contract/discovery'
import { createPeersFiles } from '../../../../src/platform/deployments/monitoring/peersFiles'
import type { ConsoleStore } from '../../../../src/platform/runtime/kubernetes/console/consoleStore'
import { openClusterRuntime } from '../../../../src/platform/runtime/kubernetes/openClusterRuntime'
import { startApiServer, type ApiServer } from '../../../support/platform/apiServer'
import { instanceSpec } from '../../../support/platform/instanceSpec'
import { writeKubeconfig } from '../../../support/platform/kubeconfig'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'

const root = useTemporaryDirectory()
let api: ApiServer
const port = () => (api.server.address() as AddressInfo).port

// A cluster without Pods.
beforeAll(async () => {
  api = await startApiServer(root(), ({ method, url = '' }, response) => {
    response.setHeader('content-type', 'application/json')
    if (method === 'PATCH') response.writeHead(404).end('{"kind": "Status"}')
    else if (url.includes('watch=')) response.flushHeaders()
    else response.end('{"metadata": {"resourceVersion": "1"}, "items": []}')
  })
})
afterAll(() => api.close())
const peers = { instances: [] } as unknown as Peers
const own = () => join(root(), 'own', 'lobby-1', 'secret.key')

/** A directory of the platform itself, and a shared area with a link to it. */
function linkTo(name: string): string {
  const shareDir = join(root(), 'nfsshare')
  mkdirSync(join(root(), 'own', 'lobby-1'), { recursive: true })
  mkdirSync(join(shareDir, 'lobby'), { recursive: true })
  writeFileSync(own(), 'the key')
  symlinkSync(join(root(), 'own'), join(shareDir, name))
  return shareDir
}

const open = (shareDir: string) =>
  openClusterRuntime({
    cluster: { kubeconfig: writeKubeconfig(root(), { server: `http://127.0.0.1:${port()}` }) },
    namespace: 'games',
    shareClaim: 'share',
    image: 'image',
    store: { remove: async () => undefined } as unknown as ConsoleStore,
    isActive: () => false,
    confirmActive: async () => false,
    shareDir,
    writeBack: async () => 0,
    directoryOf: async (path) => join(shareDir, path),
    stateId: 'state-1',
    peersDirectory: (podName) => `/.quarterdeck-peers/${podName}`,
    log: pino({ level: 'silent' }),
  })

test('the copy of a removed instance is moved away at once and deleted in the background, also by the next platform', async () => {
  const shareDir = join(root(), 'share with copies')
  const copies = join(shareDir, '.quarterdeck-copies')
  const makeCopy = (name: string, files: number) => {
    mkdirSync(join(copies, name), { recursive: true })
    for (let index = 0; index < files; index += 1) writeFileSync(join(copies, name, `${index}`), '')
  }
  makeCopy('lobby-1', 5000)
  makeCopy('lobby-2', 1)
  const runtime = open(shareDir)
  await runtime.remove('lobby-1')
  expect(existsSync(join(copies, 'lobby-1'))).toBe(false)
  const left = readdirSync(copies).filter((name) => name !== 'lobby-2')
  expect(left).toHaveLength(1)
  await runtime.close()
  expect(readdirSync(join(copies, left[0]!))).not.toEqual([])

  const next = open(shareDir)
  await until(
    () => readdirSync(copies),
    (names) => names.join() === 'lobby-2',
  )
  await next.close()
})

test('security 63: a link in the place of the copies leads neither a start nor a removal out of the shared area', async () => {
  const runtime = open(linkTo('.quarterdeck-copies'))
  try {
    const spec = instanceSpec({
      podName: 'lobby-1',
      command: ['true'],
      dataDirectory: '/lobby',
      copy: true,
      keep: ['world'],
    })
    await expect(runtime.ensure(spec)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(readFileSync(own(), 'utf8')).toBe('the key')
    await runtime.remove('lobby-1')
    expect(readFileSync(own(), 'utf8')).toBe('the key')
  } finally {
    await runtime.close()
  }
})

test('security 63: a link in the place of the peers files, or of one of them, is not followed', async () => {
  const shareDir = linkTo('.quarterdeck-peers')
  const files = createPeersFiles(join(shareDir, '.quarterdeck-peers'))
  await expect(files.write('lobby-1', peers)).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(files.remove('lobby-1')).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(readFileSync(own(), 'utf8')).toBe('the key')
  expect(existsSync(join(root(), 'own', 'lobby-1', 'peers.json'))).toBe(false)

  const others = join(shareDir, '.quarterdeck-other')
  mkdirSync(join(others, 'lobby-1'), { recursive: true })
  symlinkSync(own(), join(others, 'lobby-1', '.peers.json.part'))
  symlinkSync(join(root(), 'own', 'lobby-1'), join(others, 'lobby-2'))
  const other = createPeersFiles(others)
  await other.write('lobby-1', peers)
  expect(JSON.parse(readFileSync(join(others, 'lobby-1', 'peers.json'), 'utf8'))).toEqual(peers)
  await expect(other.write('lobby-2', peers)).rejects.toThrow()
  await other.remove('lobby-2')
  expect(readFileSync(own(), 'utf8')).toBe('the key')
  await other.remove('lobby-1')
  expect(existsSync(join(others, 'lobby-1'))).toBe(false)
})
