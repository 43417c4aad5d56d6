import { posix } from 'node:path'
import { dataOf, type Api } from '../../api/client'

/** What is at a path of the server. A limited user may list a directory, but not the one that it is in. */
export async function remoteEntry(api: Api, path: string): Promise<'directory' | 'file' | undefined> {
  const listed = await list(api, path)
  if (!listed.error) return 'directory'
  if (listed.response.status !== 404 && listed.error.code !== 'CONFLICT') dataOf(listed)
  const around = await list(api, posix.dirname(path))
  const entry = around.data?.data.files.find(({ name }) => name === posix.basename(path))
  return entry && 'file'
}

const list = (api: Api, path: string) => api.calls.GET('/api/sftp/files', { params: { query: { path } } })
