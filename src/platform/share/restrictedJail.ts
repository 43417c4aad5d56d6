import { AppError } from '../errors'
import { parentAndName, type PathSegments } from './apiPath'
import { missingPath } from './fileFailure'
import type { FoundDirectory, Jail, RawName } from './jail'
import type { Reach } from './reach'

/**
 * A jail for a caller who may use only a part of the shared area. It decides by the real path of what was opened, so
 * that a link of an instance leads nowhere else, also if it is swapped meanwhile. Everything outside of the part does
 * not exist: AppError NOT_FOUND.
 */
export function restrictJail(jail: Jail, reach: Reach): Jail {
  function restrict(directory: FoundDirectory, segments: PathSegments): FoundDirectory {
    const path = directory.realPath.slice(directory.root.length)
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
    const directory = await jail.openDirectory(segments).catch(hideRefusal(segments))
    if (reach.holds(directory.realPath.slice(directory.root.length))) return restrict(directory, segments)
    await directory.close()
    throw missingPath(segments)
  }

  /** A link that leads out of the shared area is not there either, nor is what a directory of others holds. */
  function hideRefusal(segments: PathSegments) {
    return (error: unknown): never => {
      const isTold = error instanceof AppError && error.code === 'UNAVAILABLE'
      throw isTold || reach.holds(`/${segments.join('/')}`) ? error : missingPath(segments)
    }
  }

  return {
    root: () => jail.root(),
    openDirectory,
    async open(segments) {
      const file = await jail.open(segments).catch(hideRefusal(segments))
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
      const [parent, name] = await jail.openParentOfTarget(segments, field).catch(hideRefusal(segments))
      const root = await jail.root()
      if (reach.holds(parent.realPath.slice(root.length))) return [restrict({ ...parent, root }, segments), name]
      await parent.close()
      throw missingPath(segments)
    },
  }
}
