import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { errorCodeOf } from '../../errors'
import type { OpenDirectory } from '../../share/jail'
import { createSkippedEntries } from '../../share/skippedEntries'
import { chownTree, isDeploymentUser } from '../../share/ownership'
import type { LocalSpec } from '../runtime'
import type { ContainedParts } from './containedInstance'
import { StartFailure } from './startFailures'
import { findSystemPaths, type SystemPaths } from './systemPaths'
import { createUserIdAllocator } from './userIds'

/** Settings that all containers of a platform share. */
export interface Isolation {
  isRootless: boolean
  /** Parent of the containers' cgroups; undefined if limits cannot be enforced. */
  cgroupParent: string | undefined
  /** Whether trial containers work here, but not with limits. */
  limitsFailed?: boolean
  hasRecursiveReadOnly: boolean
  system: SystemPaths
  /** Directories of the platform that must stay hidden inside readable directories. */
  hidden: string[]
}

/** @param programs from QUARTERDECK_PROGRAMS */
export function systemPathsOf(programs: string[]): SystemPaths {
  return findSystemPaths(programs, readdirSync('/etc'), process.env.PATH ?? '')
}

/** Candidates for the parent cgroup, best first. Names are hashed, because a path is not a valid cgroup name. */
export function cgroupParents(dataDir: string, isRootless: boolean): string[] {
  const groupName = `quarterdeck-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
  if (!isRootless) return [`/quarterdeck/${groupName}`]
  // In a delegated subtree (systemd: Delegate=yes, DelegateSubgroup=), containers get siblings of our group.
  const delegated = /^0::(\/.+)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  return delegated === undefined ? [] : [join(dirname(delegated), groupName)]
}

/** Paths of `hidden` that a readable directory would expose. */
export function exposedPaths(hidden: string[], { readable }: SystemPaths): string[] {
  return hidden.filter((path) => readable.some((known) => path === known || path.startsWith(`${known}/`)))
}

/**
 * Prepares an instance's directory and chooses its user: under root, the user of its deployment, who becomes owner of
 * the directory; otherwise the platform's own user in a user namespace.
 */
export function createContainerPreparation({
  directory,
  isolation,
  log,
}: {
  directory: string
  isolation: Isolation
  log: Logger
}): ContainedParts['prepareContainer'] {
  const userIdOf = createUserIdAllocator(join(directory, 'users.json'))
  const { isRootless, cgroupParent, hasRecursiveReadOnly, system } = isolation
  const hidden = exposedPaths(isolation.hidden, system)

  async function chownDirectory(
    { deployment }: LocalSpec,
    dataDirectory: OpenDirectory,
    appendLine: (text: string) => Promise<void>,
  ): Promise<number> {
    const owner = Number((await dataDirectory.stats()).uid)
    // Two deployments may share a directory; then they share its user too.
    const uid = isDeploymentUser(owner) ? owner : userIdOf(deployment)
    const skipped = createSkippedEntries()
    try {
      const changed = await chownTree(
        dataDirectory,
        uid,
        (entries) => void appendLine(`Changing the owner of its files to user ${uid}: ${entries} entries so far.`),
        skipped,
      )
      const notChanged = skipped.summary()
      if (notChanged !== undefined) await appendLine(`Owner not changed to user ${uid}: ${notChanged}`)
      if (changed > 0) log.info({ deployment, uid, changed }, 'changed the owner of a deployment’s files to its user')
      return uid
    } catch (error) {
      if (!['EPERM', 'EINVAL', 'EROFS'].includes(errorCodeOf(error) ?? '')) throw error
      if (owner === 0)
        throw new StartFailure(
          'Could not be started: its directory belongs to root, and the file system does not allow a change of owner. Change its owner on the file server.',
        )
      log.warn(
        { err: error, deployment, owner },
        'the file system does not allow a change of owner of a deployment’s files; it runs as their owner',
      )
      await appendLine(
        `The file system does not allow a change of owner of its files: it runs as their owner, user ${owner}.`,
      )
      return owner
    }
  }

  return async (spec, dataDirectory, containerId, appendLine) => {
    const uid = isRootless ? (process.getuid?.() ?? 0) : await chownDirectory(spec, dataDirectory, appendLine)
    const gid = isRootless ? (process.getgid?.() ?? 0) : uid
    const { cores, memoryBytes } = spec.limits
    return {
      uid,
      gid,
      isRootless,
      hasRecursiveReadOnly,
      hidden,
      readable: [...system.readable, ...(spec.peersDirectory === undefined ? [] : [spec.peersDirectory])].map(
        (path) => ({ source: path, target: path }),
      ),
      cgroup: cgroupParent === undefined ? undefined : { path: `${cgroupParent}/${containerId}`, cores, memoryBytes },
    }
  }
}
