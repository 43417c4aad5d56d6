import { api } from '../../../../api/api'
import { filesApi, listingTags } from '../../../../api/files'
import type { AppDispatch } from '../../../../app/types'
import type { ApiFailure } from '../../../../failure'
import { failureText } from '../../../../failure'
import type { Upload } from '../uploadSlice'
import { listNames } from './listNames'
import { FAILED } from './uploadProgress'

type Problem = { message?: string }

/** Creates the directories of a batch and lists those that existed before. */
export async function prepareDirectories(
  dispatch: AppDispatch,
  files: Pick<Upload, 'directory'>[],
  directories: string[],
) {
  const creation =
    directories.length > 0
      ? await dispatch(filesApi.endpoints.createDirectories.initiate(directories, { track: false }))
      : undefined
  if (creation) dispatch(api.util.invalidateTags(listingTags(directories)))
  const existing = creation?.data?.existing ?? []
  const failed = [...(creation?.data?.failed ?? [])]
  const names = new Map<string, ReadonlySet<string>>()
  const created = new Set(directories.filter((directory) => !existing.includes(directory)))
  for (const directory of new Set(files.map((file) => file.directory))) {
    if (created.has(directory)) continue
    const found = await listNames(dispatch, directory, existing.includes(directory))
    names.set(directory, found.names)
    // 409: a file has the name of the directory.
    if ((found.error as ApiFailure | undefined)?.status === 409)
      failed.push({ path: directory, message: failureText(found.error, FAILED) })
  }
  const refusal: Problem | undefined = creation?.error && { message: failureText(creation.error, FAILED) }
  return {
    /** The first problem of the batch. */
    problem: refusal ?? failed[0],
    /** Why nothing can be uploaded into this directory. */
    problemOf: (directory: string): Problem | undefined =>
      refusal ?? failed.find(({ path }) => directory === path || directory.startsWith(`${path}/`)),
    isTaken: (directory: string, name: string) => names.get(directory)?.has(name) ?? false,
  }
}
