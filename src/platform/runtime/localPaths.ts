import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { SHARED_ROOT } from '../../contract/pageRules'
import type { InstanceSpec, LocalSpec, Runtime } from './runtime'

export interface LocalPaths {
  /** Returns the absolute path of a directory in the shared area. @throws AppError when it is missing */
  directory(path: string): Promise<string>
  /** Returns the absolute path of an instance's peers file. */
  peersFile(podName: string): string
}

/** Adapts a runtime of this machine to specifications with paths of the shared area. */
export function withLocalPaths(runtime: Runtime<LocalSpec>, paths: LocalPaths): Runtime {
  async function resolve({
    image: _image,
    node = hostname(),
    dataDirectory,
    mounts,
    hasPeers,
    env,
    ...spec
  }: InstanceSpec): Promise<LocalSpec> {
    const peersFile = hasPeers ? paths.peersFile(spec.podName) : undefined
    return {
      ...spec,
      dataDirectory,
      directory: await paths.directory(dataDirectory),
      mounts: await Promise.all(
        mounts.map(async (path) => ({ source: await paths.directory(path), target: SHARED_ROOT + path })),
      ),
      env: { ...env, QUARTERDECK_NODE: node, ...(peersFile !== undefined && { QUARTERDECK_PEERS: peersFile }) },
      ...(peersFile !== undefined && { peersDirectory: dirname(peersFile) }),
    }
  }

  return { ...runtime, ensure: async (spec) => runtime.ensure(await resolve(spec)) }
}
