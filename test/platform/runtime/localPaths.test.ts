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

test('§12 a local runtime gets real paths within the shared area, and paths that lead out of it are refused', async () => {
  const root = await realpath(directory())
  for (const name of ['lobby', 'common', 'maps']) await mkdir(join(root, name))
  await symlink('maps', join(root, 'linked'))
  await symlink('/etc', join(root, 'escape'))
  const ensure = jest.fn(async (_spec: LocalSpec) => undefined)
  const runtime = withLocalPaths({ ensure } as unknown as Runtime<LocalSpec>, {
    directory: (path) => findDeploymentDirectory({ shareDir: root }, path),
    peersFile: (podName) => `/peers/${podName}/peers.json`,
  })
  await runtime.ensure(spec)
  const { image: _image, node: _node, dataDirectory: _path, hasPeers: _has, ...rest } = spec
  const expected = {
    ...rest,
    env: { PORT: '1', QUARTERDECK_NODE: spec.node ?? hostname() },
    directory: join(root, 'lobby'),
    mounts: [
      { source: join(root, 'common'), target: '/nfsshare/common' },
      { source: join(root, 'maps'), target: '/nfsshare/linked' },
    ],
  }
  expect(ensure).toHaveBeenLastCalledWith(expected)

  await runtime.ensure({ ...spec, hasPeers: true })
  expect(ensure).toHaveBeenLastCalledWith({
    ...expected,
    env: { ...expected.env, QUARTERDECK_PEERS: '/peers/lobby-1/peers.json' },
    peersDirectory: '/peers/lobby-1',
  })

  for (const wrong of [{ dataDirectory: '/escape' }, { mounts: ['/escape'] }])
    await expect(runtime.ensure({ ...spec, ...wrong })).rejects.toThrow('leads out of the shared area')
  expect(ensure).toHaveBeenCalledTimes(2)
})
