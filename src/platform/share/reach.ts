import { SHARED_ROOT } from '../../contract/pageRules'

/** The part of the shared area that a caller may use. Paths are below the shared root: `/lobby/world`; the root is empty. */
export interface Reach {
  /** What it is made of, for another thread: every directory of a deployment, and whether they may use it. */
  directories: readonly (readonly [path: string, isUsable: boolean])[]
  /** Whether a path is a directory that they may use, or is inside of one. */
  holds(path: string): boolean
  /** Whether a path can be changed, moved or read as a whole: it holds no directory that they may not use. */
  isWhole(path: string): boolean
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
  return {
    directories,
    holds(path) {
      for (let around = path; around !== ''; around = around.slice(0, around.lastIndexOf('/'))) {
        const found = isUsable.get(around)
        if (found !== undefined) return found
      }
      return false
    },
    isWhole: (path) => !directories.some(([directory, usable]) => !usable && directory.startsWith(`${path}/`)),
  }
}
