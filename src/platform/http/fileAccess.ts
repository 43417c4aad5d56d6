import { isRestricted, may, type Caller } from '../caller'
import { createFollowedReach, createReach, type FollowedReach, type OwnedDirectory, type Reach } from '../share/reach'
import type { FileCalls, Files } from '../share/files'

/** What a caller may do with files. */
export interface CallerFiles {
  files: FileCalls
  /** Undefined: all of the shared area. */
  reach: Reach | undefined
}

/** What a caller may do with files in long-running work. */
export interface FollowedFiles extends CallerFiles {
  /** As in `FollowedReach`, for these files. */
  limitTo: FollowedReach['limitTo']
}

/** Restricts calls for files to what the caller has the right `files` on (decisions §16). */
export interface FileAccess {
  of(caller: Caller): Promise<CallerFiles>
  /** As `of`, for work that must respect later changes of its caller's rights until it ends. */
  follow(caller: Caller): Promise<FollowedFiles>
}

/** @param listDirectories the directories of all deployments */
export function createFileAccess(files: Files, listDirectories: () => Promise<OwnedDirectory[]>): FileAccess {
  const reachOf = async (caller: Caller) =>
    isRestricted(caller)
      ? createReach(await listDirectories(), (deployment) => may(caller, 'files', deployment))
      : undefined

  return {
    async of(caller) {
      const reach = await reachOf(caller)
      return { files: reach ? files.within(reach) : files, reach }
    },
    async follow(caller) {
      const reach = await reachOf(caller)
      const followed = createFollowedReach(reach)
      return { files: files.within(followed), reach, limitTo: (now) => followed.limitTo(now) }
    },
  }
}
