import { mkdir, realpath, symlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { InstanceSpec, LocalSpec, Runtime } from '../../../src/platform/runtime/runtime'
import { withLocalPaths } from '../../../src/platform/runtime/localPaths'
import { findDeploymentDirectory } from '../../../src/platform/share/deploymentDirectory'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

const spec: InstanceSpec = {
  podName: 'lobby-1',
  deployment: 'lobby',
  image: undefined,
  node: undefined,
  command: ['true'],
  dataDirectory: '/lobby',
  copy: true,
  keep: ['list.txt'],
  mounts: ['/common', '/linked'],
  env: { PORT: '1' },
  hasPeers: false,
  port: 1,
  ready: undefined,
  stop: { command: undefined, timeoutSeconds: 1 },
  limits: { cores: undefined, memoryBytes: undefined },
}

const ensure = jest.fn(async (_spec: LocalSpec) => undefined)
const runtime = withLocalPaths({ ensure } as unknown as Runtime<LocalSpec>, {
  directory: (path) => findDeploymentDirectory({ shareDir: directory() }, path),
  peersFile: (podName) => `/peers/${podName}/peers.json`,
})

beforeAll(async () => {
  for (const name of ['lobby', 'common', 'maps']) await mkdir(join(directory(), name))
  await symlink('maps', join(directory(), 'linked'))
  await symlink('/etc', join(directory(), 'escape'))
})
beforeEach(() => ensure.mockClear())

test('§12 a local runtime gets real paths within the shared area', async () => {
  const root = await realpath(directory())
  await runtime.ensure(spec)
  const { image: _image, node: _node, hasPeers: _has, ...rest } = spec
  expect(ensure).toHaveBeenLastCalledWith({
    ...rest,
    env: { PORT: '1', QUARTERDECK_NODE: spec.node ?? hostname() },
    directory: join(root, 'lobby'),
    mounts: [
      { source: join(root, 'common'), target: '/nfsshare/common' },
      { source: join(root, 'maps'), target: '/nfsshare/linked' },
    ],
  })
})

test('an instance with peers gets the path of their file and its directory', async () => {
  await runtime.ensure({ ...spec, hasPeers: true })
  expect(ensure.mock.lastCall![0]).toMatchObject({
    env: { PORT: '1', QUARTERDECK_PEERS: '/peers/lobby-1/peers.json' },
    peersDirectory: '/peers/lobby-1',
  })
})

test.each([{ dataDirectory: '/escape' }, { mounts: ['/escape'] }])(
  '§12 a path that leads out of the shared area is refused: %j',
  async (wrong) => {
    await expect(runtime.ensure({ ...spec, ...wrong })).rejects.toThrow('leads out of the shared area')
    expect(ensure).not.toHaveBeenCalled()
  },
)
