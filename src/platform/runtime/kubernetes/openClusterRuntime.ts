import { chown, mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { StartError } from '../../errors'
import type { ClusterSource } from '../../kubernetes/clusterConnection'
import { removeTree } from '../../share/changes/removal'
import { COPY_MARKER } from '../../share/internalNames'
import { openOwnDirectory, openRealDirectory, openSubdirectory, withDirectory } from '../../share/jail'
import { chownTree, FIRST_USER_ID } from '../../share/ownership'
import type { WriteBack } from '../../share/replicas/writeBack'
import { createSkippedEntries } from '../../share/skippedEntries'
import { timeOfCopyMarker } from '../copyMarker'
import { openRemovedCopies } from '../removedCopies'
import type { InstanceSpec, Runtime } from '../runtime'
import { createClusterClient } from './clusterClient'
import type { ConsoleStore } from './console/consoleStore'
import type { KeptCopies } from './keptFiles'
import { openKubernetesRuntime } from './kubernetesRuntime'

/** Internal directory of the shared area with the copies of instances with `keep`. */
const COPIES = '.quarterdeck-copies'
/** Timeout to write back the files of one instance. */
const WRITE_BACK_MS = 10 * 60_000

export interface ClusterRuntimeSettings {
  /** Undefined if no cluster is configured. */
  cluster: ClusterSource | undefined
  namespace: string
  shareClaim: string
  image: string
  store: ConsoleStore
  isActive: () => boolean
  confirmActive: () => Promise<boolean>
  /** The path of the shared area on this machine. */
  shareDir: string
  writeBack: WriteBack
  /** Returns the absolute path of a directory in the shared area. @throws AppError when it is missing */
  directoryOf: (path: string) => Promise<string>
  /** Identifies the platform's state. */
  stateId: string
  /** Path of the directory with an instance's peers file, in the shared area. */
  peersDirectory: (podName: string) => string
  log: Logger
}

/**
 * Opens the runtime of a cluster. The platform also starts while the cluster does not answer.
 * @throws StartError if no cluster is configured
 */
export function openClusterRuntime({
  cluster,
  namespace,
  shareClaim,
  directoryOf,
  peersDirectory,
  shareDir,
  writeBack,
  ...parts
}: ClusterRuntimeSettings): Runtime {
  if (cluster === undefined)
    throw new StartError([
      'QUARTERDECK_RUNTIME: kubernetes needs a cluster: set KUBECONFIG, or run Quarterdeck in the cluster',
    ])
  const own = process.getuid?.() ?? 0
  // Pods do not run as root. A platform that runs as root makes their user the owner of the files.
  const user = own === 0 ? FIRST_USER_ID : own

  const directoryOfCopies = join(shareDir, COPIES)
  const removed = openRemovedCopies(() => openOwnDirectory(directoryOfCopies))
  const copies: KeptCopies = {
    pathOf: (podName) => `/${COPIES}/${podName}`,
    async writeBack(podName, dataDirectory, paths, skipped, signal) {
      const copy = join(await realpath(shareDir), COPIES, podName)
      const copiedAt = await timeOfCopyMarker(join(copy, COPY_MARKER))
      const task = { copy, directory: await directoryOf(dataDirectory), dataDirectory, paths, copiedAt }
      return writeBack(task, AbortSignal.any([signal, AbortSignal.timeout(WRITE_BACK_MS)]), skipped)
    },
    remove: (podName) => removed.add(podName),
  }

  async function makeCopyDirectory(podName: string): Promise<void> {
    await mkdir(directoryOfCopies, { recursive: true })
    await withDirectory(openOwnDirectory(directoryOfCopies), async (all) => {
      await removeTree(all, podName)
      await mkdir(all.entryPath(podName))
      const copy = own === 0 ? await openSubdirectory(all, podName) : undefined
      if (copy) await withDirectory(copy, ({ procPath }) => chown(procPath, user, user))
    })
  }

  async function prepare({ podName, dataDirectory, mounts, keep }: InstanceSpec): Promise<void> {
    for (const path of mounts) await directoryOf(path)
    const path = await directoryOf(dataDirectory)
    if (keep) await makeCopyDirectory(podName)
    if (own !== 0) return
    const directory = await openRealDirectory(path)
    try {
      await chownTree(directory, user, () => undefined, createSkippedEntries())
    } finally {
      await directory.close()
    }
  }

  const runtime = openKubernetesRuntime({
    ...parts,
    client: createClusterClient(cluster, namespace),
    claim: shareClaim,
    user,
    peersDirectory,
    copies,
    prepare,
  })
  const close = runtime.close.bind(runtime)
  return Object.assign(runtime, {
    async close() {
      await Promise.all([close(), removed.close()])
    },
  })
}
