import { SHARED_ROOT } from '../../contract/pageRules'
import type { Passage } from './steps'

/**
 * The part of the shared area that a caller may use. Paths are below the shared root: `/lobby/world`; the root is
 * empty.
 */
export interface Reach {
  /** What it is made of, for another thread: every directory of a deployment, and whether they may use it. */
  directories: readonly (readonly [path: string, isUsable: boolean])[]
  /** Whether a path is a directory that they may use, or is inside of one. */
  holds(path: string): boolean
  /** Whether a path can be changed, moved or read as a whole: it holds no directory that they may not use. */
  isWhole(path: string): boolean
  /**
   * Whether a path may lead through this directory: one that they may use, or one on the way to it. Without it:
   * anywhere.
   */
  leadsOn?: (path: string) => boolean
}

/**
 * Lets paths lead only through what a caller knows of: whatever else a link passes does not exist, as if it was not
 * there.
 * @param root real path of the shared area
 */
export function passageOf(leadsOn: NonNullable<Reach['leadsOn']>, root: string): Passage {
  return {
    through(directory) {
      const isOnTheWay = directory === '/' || root === directory || root.startsWith(`${directory}/`)
      if (isOnTheWay || (directory.startsWith(`${root}/`) && leadsOn(directory.slice(root.length)))) return
      throw Object.assign(new Error('The path leads through what its caller must not know of'), { code: 'ENOENT' })
    },
  }
}

/** A reach for work that takes long, whose caller may lose a part of it meanwhile. */
export interface FollowedReach extends Reach {
  /**
   * Limits it from now on.
   * @param now what the caller may use now
   * @returns whether they may still use all that the work has used, by real paths
   */
  limitTo(now: Omit<Reach, 'directories'>): boolean
}

/** @param first what the caller may use at the beginning; undefined: everything */
export function createFollowedReach(first: Reach | undefined): FollowedReach {
  const used = new Set<string>()
  const usedAsWhole = new Set<string>()
  let current: Omit<Reach, 'directories'> = first ?? { holds: () => true, isWhole: () => true }
  // What was used can still be removed by work that is ended because of it.
  const note = (paths: Set<string>, path: string, isUsable: boolean) => {
    if (isUsable) paths.add(path)
    return isUsable || paths.has(path)
  }
  return {
    directories: first?.directories ?? [],
    holds: (path) => note(used, path, current.holds(path)),
    isWhole: (path) => note(usedAsWhole, path, current.isWhole(path)),
    ...(first && { leadsOn: (path: string) => current.leadsOn?.(path) ?? true }),
    limitTo(now) {
      current = now
      return [...used].every(now.holds) && [...usedAsWhole].every(now.isWhole)
    },
  }
}

/** The directory of a deployment in paths of the API. */
export interface OwnedDirectory {
  name: string
  path: string
}

/**
 * A path belongs to the deployment with the innermost directory around it (decisions §16); to each of them if several
 * deployments have the same directory.
 * @param mayUse whether the caller may use the files of a deployment
 */
export function createReach(deployments: OwnedDirectory[], mayUse: (deployment: string) => boolean): Reach {
  const directories = new Map<string, boolean>()
  for (const { name, path } of deployments) {
    const directory = path.slice(SHARED_ROOT.length)
    directories.set(directory, mayUse(name) || (directories.get(directory) ?? false))
  }
  return toReach([...directories])
}

/** @param directories as in `Reach` */
export function toReach(directories: Reach['directories']): Reach {
  const isUsable = new Map(directories)
  const holds = (path: string) => {
    for (let around = path; around !== ''; around = around.slice(0, around.lastIndexOf('/'))) {
      const found = isUsable.get(around)
      if (found !== undefined) return found
    }
    return false
  }
  return {
    directories,
    holds,
    isWhole: (path) => !directories.some(([directory, usable]) => !usable && directory.startsWith(`${path}/`)),
    leadsOn: (path) =>
      holds(path) || directories.some(([directory, usable]) => usable && directory.startsWith(`${path}/`)),
  }
}
