import { posix } from 'node:path'
import { FilesResponse } from '../../../contract/file'
import { dataOf, type Api } from '../../api/client'

/** The type of the entry at a path of the server. A limited user may be able to list a directory but not its parent. */
export async function remoteEntry(api: Api, path: string): Promise<'directory' | 'file' | undefined> {
  const listed = await list(api, path)
  if (listed.response.ok) {
    dataOf(listed, FilesResponse)
    return 'directory'
  }
  if (listed.response.status !== 404 && listed.error?.code !== 'CONFLICT') dataOf(listed, FilesResponse)
  const around = await list(api, posix.dirname(path))
  if (!around.response.ok) return undefined
  const entry = dataOf(around, FilesResponse).files.find(({ name }) => name === posix.basename(path))
  return entry && 'file'
}

const list = (api: Api, path: string) => api.calls.GET('/api/sftp/files', { params: { query: { path } } })
