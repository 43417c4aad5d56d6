import type { Logger } from 'pino'
import { AppError, StartError } from '../../errors'
import type { ClusterSource } from '../../kubernetes/clusterConnection'
import { openRealDirectory } from '../../share/jail'
import { chownTree, FIRST_USER_ID } from '../../share/ownership'
import { createSkippedEntries } from '../../share/skippedEntries'
import type { InstanceSpec, Runtime } from '../runtime'
import { createClusterClient } from './clusterClient'
import type { ConsoleStore } from './consoleStore'
import { openKubernetesRuntime } from './kubernetesRuntime'

export interface ClusterRuntimeSettings {
  /** Undefined if no cluster is configured. */
  cluster: ClusterSource | undefined
  namespace: string
  shareClaim: string
  image: string
  store: ConsoleStore
  isActive: () => boolean
  paths: {
    /** Returns the absolute path of a directory in the shared area. @throws AppError when it is missing */
    directory(path: string): Promise<string>
    /** Path of the directory with an instance's peers file, in the shared area. */
    peersDirectory(podName: string): string
  }
  log: Logger
}

/**
 * Opens the runtime of a cluster. A cluster that does not answer yet does not keep the platform from starting.
 * @throws StartError if no cluster is configured
 */
export function openClusterRuntime({
  cluster,
  namespace,
  shareClaim,
  paths,
  ...parts
}: ClusterRuntimeSettings): Runtime {
  if (cluster === undefined)
    throw new StartError([
      'QUARTERDECK_RUNTIME: kubernetes needs a cluster: set KUBECONFIG, or run Quarterdeck in the cluster',
    ])
  const own = process.getuid?.() ?? 0
  // Pods do not run as root. A platform that does gives them their files.
  const user = own === 0 ? FIRST_USER_ID : own

  async function prepare({ dataDirectory, mounts, keep }: InstanceSpec): Promise<void> {
    if (keep) throw new AppError('CONFLICT', '"keep" is not supported on Kubernetes yet')
    for (const path of mounts) await paths.directory(path)
    const path = await paths.directory(dataDirectory)
    if (own !== 0) return
    const directory = await openRealDirectory(path)
    try {
      await chownTree(directory, user, () => undefined, createSkippedEntries())
    } finally {
      await directory.close()
    }
  }

  return openKubernetesRuntime({
    ...parts,
    client: createClusterClient(cluster, namespace),
    claim: shareClaim,
    user,
    peersDirectory: (podName) => paths.peersDirectory(podName),
    prepare,
  })
}
