import { isRestricted, may, type Caller } from '../caller'
import { createReach, type OwnedDirectory, type Reach } from '../share/reach'
import type { FileCalls, Files } from '../share/files'

/** What a caller may do with files. */
export interface CallerFiles {
  files: FileCalls
  /** Undefined: all of the shared area. */
  reach: Reach | undefined
}

/** Restricts calls for files to what the caller has the right `files` on (decisions §16). */
export interface FileAccess {
  of(caller: Caller): Promise<CallerFiles>
}

/** @param listDirectories the directories of all deployments */
export function createFileAccess(files: Files, listDirectories: () => Promise<OwnedDirectory[]>): FileAccess {
  return {
    async of(caller) {
      if (!isRestricted(caller)) return { files, reach: undefined }
      const reach = createReach(await listDirectories(), (deployment) => may(caller, 'files', deployment))
      return { files: files.within(reach), reach }
    },
  }
}
