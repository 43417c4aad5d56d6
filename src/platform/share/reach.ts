import { SHARED_ROOT } from '../../contract/pageRules'
import type { Passage } from './followLinks'

/**
 * The part of the shared area that a caller may use. Paths are below the shared root: `/lobby/world`; the root is
 * empty.
 */
export interface Reach {
  /** Serializable form for another thread: every directory of a deployment, and whether the caller may use it. */
  directories: readonly (readonly [path: string, isUsable: boolean])[]
  /** Whether a path is, or is inside, a directory that the caller may use. */
  holds(path: string): boolean
  /** Whether a path can be changed, moved or read as a whole: it contains no directory that the caller may not use. */
  isWhole(path: string): boolean
  /**
   * Whether a path may lead through this directory: one that the caller may use, or a parent of one. Undefined:
   * anywhere.
   */
  leadsOn?: (path: string) => boolean
}

/**
 * Lets paths lead only through directories that a caller knows of. Whatever else a link leads through is reported as
 * missing.
 * @param root real path of the shared area
 */
export function passageOf(leadsOn: NonNullable<Reach['leadsOn']>, root: string): Passage {
  return {
    through(directory) {
      const isOnTheWay = directory === '/' || root === directory || root.startsWith(`${directory}/`)
      if (isOnTheWay || (directory.startsWith(`${root}/`) && leadsOn(directory.slice(root.length)))) return
      throw Object.assign(new Error('The path leads through a directory that its caller may not see'), {
        code: 'ENOENT',
      })
    },
  }
}

/** A reach for long-running work, whose caller may lose a part of it before the end. */
export interface FollowedReach extends Reach {
  /**
   * Restricts the reach from now on.
   * @param now what the caller may use now
   * @returns whether the caller may still use everything that the work has used, by real paths
   */
  limitTo(now: Omit<Reach, 'directories'>): boolean
}

/** @param first what the caller may use at the beginning; undefined: everything */
export function createFollowedReach(first: Reach | undefined): FollowedReach {
  const used = new Set<string>()
  const usedAsWhole = new Set<string>()
  let current: Omit<Reach, 'directories'> = first ?? { holds: () => true, isWhole: () => true }
  // Paths that were already used stay accessible, so that work that is aborted can remove its files.
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
