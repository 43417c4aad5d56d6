import { basename } from 'node:path'
import type { Logger } from 'pino'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { AppError, errorCodeOf } from '../../errors'
import type { Temporaries } from '../changes/temporaries'
import { mountLost, mountStateOf } from '../deploymentDirectory'
import { fileFailure } from '../fileFailure'
import { openRealDirectory, withDirectory, type Jail, type OpenDirectory } from '../jail'
import { createSkippedEntries, type SkippedEntries } from '../skippedEntries'
import { writeMatchesBack } from './writeBackEntries'

export interface WriteBackTask {
  /** Absolute path of the instance's copy. */
  copy: string
  /** Real path of the deployment's directory, in the shared area. */
  directory: string
  /** The same as in the definition, `/lobby`. Undefined: recorded by an earlier version. */
  dataDirectory?: string | undefined
  /** Paths within the copy that are written back, with wildcards in their names. */
  paths: string[]
  /** When the copy was complete (ctime, in milliseconds since the epoch): see copyMarker.ts. Default: 0, unknown. */
  copiedAt?: number
}

/**
 * Copies files from an instance's copy to the deployment's directory (decisions §13, `keep`): those that are missing
 * there, or that the instance alone has changed, or that are newer, each replaced atomically. A newer file there was
 * written by another instance or an operator, so it stays; for the same reason nothing is deleted. Where a link or a
 * file has taken the place of a directory, or a directory that of a file, writes beside it, under a name that ends with
 * that of the copy. Omits links, special files and names that are not valid UTF-8, and follows no link.
 * @param skipped collects matching entries that are not written back (directories that are too deep, files with too
 * many holes, names that are not valid UTF-8), and those that are written beside something else.
 * @returns the number of files written.
 * @throws the signal's reason (written files stay); AppError CONFLICT (the deployment's directory was replaced, or is
 * the empty one below a mount that is gone), NOT_FOUND (no directory), UNAVAILABLE (not mounted), DISK_FULL
 */
export type WriteBack = (task: WriteBackTask, signal: AbortSignal, skipped?: SkippedEntries) => Promise<number>

/** @param mountedDirectories directories of deployments that were mounts of their own, as in their definitions */
export function createWriteBack(
  jail: Jail,
  temporaries: Temporaries,
  log: Logger,
  mountedDirectories: () => Promise<string[]>,
): WriteBack {
  /**
   * Must be the directory that the copy was made from, not the target of a link that replaced it.
   * @param wasMounted then it must not be the empty one below that mount either
   */
  async function openTarget(directory: string, wasMounted: boolean): Promise<OpenDirectory> {
    const root = await jail.root()
    if (!directory.startsWith(`${root}/`))
      throw new AppError('CONFLICT', 'The shared area has been replaced by another one (QUARTERDECK_SHARE_DIR).')
    const shown = `${SHARED_ROOT}${directory.slice(root.length)}`
    const opened = await openRealDirectory(directory).catch((error: unknown) => {
      if (errorCodeOf(error) !== 'ENOENT') throw error
      throw new AppError('NOT_FOUND', `The directory ${shown} no longer exists.`)
    })
    try {
      if ((await mountStateOf(opened.procPath, root, wasMounted)) !== 'lost') return opened
      throw mountLost(shown, 'write to it as it is')
    } catch (error) {
      await opened.close()
      throw error
    }
  }

  /** Copies whose directory was a mount at an earlier attempt: the deployment may have another directory by now. */
  const ofMounts = new Set<string>()

  return async ({ copy, directory, dataDirectory, paths, copiedAt = 0 }, signal, skipped = createSkippedEntries()) => {
    try {
      const opened = await openRealDirectory(copy).catch((error: unknown) => {
        if (errorCodeOf(error) === 'ENOENT') return undefined
        throw error
      })
      // The copy was removed: there is nothing to write.
      if (!opened) {
        ofMounts.delete(copy)
        return 0
      }
      return await withDirectory(opened, async (from) => {
        let written = 0
        if (dataDirectory !== undefined && (await mountedDirectories()).includes(dataDirectory)) ofMounts.add(copy)
        const wasMounted = ofMounts.has(copy)
        const context = { temporaries, signal, skipped, copyName: basename(copy), copiedAt, holes: 0 }
        for (const path of paths)
          written += await writeMatchesBack(from, () => openTarget(directory, wasMounted), path.split('/'), [], context)
        ofMounts.delete(copy)
        return written
      })
    } catch (error) {
      if (signal.aborted) throw error
      const failure = fileFailure(error, paths.map((path) => `"${path}"`).join(', '))
      if (!(failure instanceof AppError))
        log.error({ err: error, copy, directory }, 'failed to write back the files of an instance')
      throw failure
    }
  }
}
