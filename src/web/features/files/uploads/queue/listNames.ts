import { numberedName } from '../../../../../contract/pageRules'
import { filesApi } from '../../../../api/files'
import type { AppDispatch } from '../../../../app/types'
import type { Upload } from '../uploadSlice'

/** Lists a directory. `names` is empty if the listing fails; `error` says why. `isFresh` bypasses the cache. */
export async function listNames(
  dispatch: AppDispatch,
  directory: string,
  isFresh: boolean,
): Promise<{ names: ReadonlySet<string>; error: unknown }> {
  const { data, error } = await dispatch(
    filesApi.endpoints.getFiles.initiate(directory, { subscribe: false, forceRefetch: isFresh }),
  )
  return { names: new Set(data?.files.map(({ name }) => name)), error }
}

/** Chooses the new name here, because a server that ignores `onConflict` would replace the existing file. */
export async function findFreeName(dispatch: AppDispatch, { name, directory }: Upload) {
  const { names: taken } = await listNames(dispatch, directory, true)
  if (!taken.has(name)) return name
  for (let count = 2; ; count++) {
    const candidate = numberedName(name, count)
    if (!taken.has(candidate)) return candidate
  }
}
