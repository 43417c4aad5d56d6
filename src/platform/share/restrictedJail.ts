import { AppError } from '../errors'
import { parentAndName, type PathSegments } from './apiPath'
import { lstatOf } from './directoryEntries'
import { missingPath } from './fileFailure'
import type { FoundDirectory, Jail, RawName } from './jail'
import type { Reach } from './reach'

/**
 * A jail for a caller who may use only a part of the shared area. It decides by the real path of the opened entry, so
 * that an instance's link cannot lead elsewhere, even if it is swapped. Everything outside of the part is reported as
 * missing: AppError NOT_FOUND.
 */
export function restrictJail(jail: Jail, reach: Reach): Jail {
  const realPathBelow = ({ realPath, root }: FoundDirectory) => realPath.slice(root.length)

  function restrict(directory: FoundDirectory, segments: PathSegments): FoundDirectory {
    const path = realPathBelow(directory)
    function entryPath(name: string): string
    function entryPath(name: RawName): RawName
    function entryPath(name: RawName): RawName {
      const entry = name === '.' ? path : `${path}/${String(name)}`
      if (!reach.holds(entry) || !reach.isWhole(entry)) throw missingPath([...segments, String(name)])
      return directory.entryPath(name)
    }
    return { ...directory, entryPath }
  }

  async function openDirectory(segments: PathSegments): Promise<FoundDirectory> {
    const directory = await jail.openDirectory(segments).catch(explain(segments))
    if (reach.holds(realPathBelow(directory))) return restrict(directory, segments)
    await directory.close()
    throw missingPath(segments)
  }

  /**
   * Returns a handler that rethrows the error of a path that cannot be opened. If the path leads out of the reach, it
   * throws the error for a missing path instead. The longest existing prefix of the path, with links followed, decides
   * where the path leads.
   * @param missing the path that the error for a missing path names
   */
  function explain(segments: PathSegments, missing = segments) {
    return async (error: unknown): Promise<never> => {
      if (!reach.leadsOn || !(error instanceof AppError) || ['NOT_FOUND', 'UNAVAILABLE'].includes(error.code))
        throw error
      if (error.code === 'NOT_ALLOWED') throw missingPath(missing)
      const root = await jail.root()
      for (let length = segments.length; length > 0; length--) {
        const found = await jail.open(segments.slice(0, length)).catch(() => undefined)
        if (!found) continue
        await found.close()
        throw reach.holds(found.realPath.slice(root.length)) ? error : missingPath(missing)
      }
      throw missingPath(missing)
    }
  }

  return {
    root: () => jail.root(),
    openDirectory,
    async open(segments) {
      const file = await jail.open(segments).catch(explain(segments))
      try {
        const path = file.realPath.slice((await jail.root()).length)
        if (reach.holds(path) && reach.isWhole(path)) return file
        throw missingPath(segments)
      } catch (error) {
        await file.close()
        throw error
      }
    },
    async openParent(segments, field) {
      const [parent, name] = parentAndName(segments, field)
      const directory = await openDirectory(parent)
      return [directory, name]
    },
    async openParentOfTarget(segments, field) {
      const [around] = parentAndName(segments, field)
      const [parent, name] = await jail.openParentOfTarget(segments, field).catch(explain(segments, around))
      try {
        const directory = restrict({ ...parent, root: await jail.root() }, segments)
        // Not a link: one with a missing target would be replaced, while one to files of others would be refused.
        if (reach.holds(realPathBelow(directory)) && !(await lstatOf(directory, name))?.isSymbolicLink())
          return [directory, name]
        throw missingPath(around)
      } catch (error) {
        await parent.close()
        throw error
      }
    },
  }
}
