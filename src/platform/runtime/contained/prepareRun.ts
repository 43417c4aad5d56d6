import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { errorCodeOf } from '../../errors'
import type { HeldDirectory } from '../../share/jail'
import { createLeftOut } from '../../share/leftOut'
import { giveTree, isDeploymentUser } from '../../share/ownership'
import type { InstanceSpec } from '../runtime'
import { StartFailure, type ContainedParts } from './containedInstance'
import type { ContainerSpec } from './ociConfig'
import { findSystemPaths, type SystemPaths } from './systemPaths'
import { createUserIds } from './userIds'

/** What is the same for every container of a platform. */
export interface Isolation {
  isRootless: boolean
  /** Below this group every container gets its own; undefined where limits cannot be enforced. */
  cgroupParent: string | undefined
  system: SystemPaths
  /** Directories of the platform that must stay hidden where a readable directory holds them. */
  hidden: string[]
}

/** @param programs of QUARTERDECK_PROGRAMS. */
export function systemPathsOf(programs: string[]): SystemPaths {
  return findSystemPaths(programs, readdirSync('/etc'), process.env.PATH ?? '')
}

/** Where this platform's control groups may be, best first. Names of data directories are no good as names of groups. */
export function cgroupParents(dataDir: string, isRootless: boolean): string[] {
  const own = `quarterdeck-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
  if (!isRootless) return [`/quarterdeck/${own}`]
  // With a delegated subtree (systemd: Delegate=yes with DelegateSubgroup=) the platform is in one of its groups, and containers get others.
  const delegated = /^0::(\/.+)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  return delegated === undefined ? [] : [join(dirname(delegated), own)]
}

/** Paths of `hidden` that instances would see through a readable directory. */
export function visibleOf(hidden: string[], { readable }: SystemPaths): string[] {
  return hidden.filter((path) => readable.some((known) => path === known || path.startsWith(`${known}/`)))
}

/**
 * Prepares the directory of an instance and says who runs it: where root starts the platform, the user of its deployment, to
 * whom the directory is given; otherwise the platform's own user in a user namespace.
 */
export function createPreparation({
  directory,
  isolation,
  log,
}: {
  directory: string
  isolation: Isolation
  log: Logger
}): ContainedParts['prepare'] {
  const userIdOf = createUserIds(join(directory, 'users.json'))
  const { isRootless, cgroupParent, system } = isolation
  const hidden = visibleOf(isolation.hidden, system)

  async function ownerOf(
    { deployment }: InstanceSpec,
    own: HeldDirectory,
    say: (text: string) => Promise<void>,
  ): Promise<number> {
    const owner = Number((await own.stats()).uid)
    // Two deployments may share a directory: then they share its user.
    const uid = isDeploymentUser(owner) ? owner : userIdOf(deployment)
    const leftOut = createLeftOut()
    try {
      const changed = await giveTree(
        own,
        uid,
        (entries) => void say(`Its files are given to user ${uid}: ${entries} entries so far.`),
        leftOut,
      )
      const notGiven = leftOut.text()
      if (notGiven !== undefined) await say(`Not given to user ${uid}: ${notGiven}`)
      if (changed > 0) log.info({ deployment, uid, changed }, 'the files of a deployment were given to its user')
      return uid
    } catch (error) {
      if (!['EPERM', 'EINVAL', 'EROFS'].includes(errorCodeOf(error) ?? '')) throw error
      if (owner === 0)
        throw new StartFailure(
          'Could not be started: its directory belongs to root, and the file system lets nobody give it away. Give it to another user where it is stored.',
        )
      log.warn(
        { err: error, deployment, owner },
        'the files of a deployment cannot be given away; it runs as their owner',
      )
      await say(`The file system lets nobody give its files away: it runs as their owner, user ${owner}.`)
      return owner
    }
  }

  return async (spec, own, containerId, say) => {
    const uid = isRootless ? (process.getuid?.() ?? 0) : await ownerOf(spec, own, say)
    const gid = isRootless ? (process.getgid?.() ?? 0) : uid
    const { cores, memoryBytes } = spec.limits
    const container: Pick<ContainerSpec, 'uid' | 'gid' | 'readable' | 'hidden' | 'cgroup' | 'isRootless'> = {
      uid,
      gid,
      isRootless,
      hidden,
      readable: [...system.readable, ...(spec.peersDirectory === undefined ? [] : [spec.peersDirectory])].map(
        (path) => ({ source: path, target: path }),
      ),
      cgroup: cgroupParent === undefined ? undefined : { path: `${cgroupParent}/${containerId}`, cores, memoryBytes },
    }
    return container
  }
}
