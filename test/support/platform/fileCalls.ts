import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileEntry } from '../../../src/contract/file'
import { usePlatform, type Answer } from './startPlatform'

/** Starts a platform for the tests of a file, with a user who calls the routes of the shared area. */
export function useFileCalls() {
  const { platform, account: ann } = usePlatform('ann')
  const share = () => join(platform().dataDir, 'nfsshare')
  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer> =>
    platform().call(method, `/api/sftp/${path}`, { body, token: ann().token })
  const at = (path: string) => `path=${encodeURIComponent(path)}`
  const list = (path: string) => call('GET', `files?${at(path)}`)

  return {
    platform,
    ann,
    /** The path of the shared area. */
    share,
    /** The query of a call for a path. */
    at,
    /** Calls a route below `/api/sftp/`. */
    call,
    list,
    entriesOf: async (path: string) => (await list(path)).body.data.files as FileEntry[],
    read: (path: string) => call('GET', `file/content?${at(path)}`),

    /** Creates a directory for one test. @returns its path in the API */
    async makeDirectory(this: void, name: string, files: Record<string, string | Buffer> = {}): Promise<string> {
      await mkdir(join(share(), name))
      for (const [path, content] of Object.entries(files)) {
        await mkdir(join(share(), name, path, '..'), { recursive: true })
        await writeFile(join(share(), name, path), content)
      }
      return `/nfsshare/${name}`
    },
  }
}
