import { join } from 'node:path'
import { useAccount, usePlatform } from './startPlatform'

/** Starts a platform that listens, for the tests of a file, with two users who download files. */
export function useDownloadRequests() {
  const { platform, account: ann } = usePlatform('ann')
  const cyd = useAccount(platform, 'cyd')
  let origin: string
  beforeAll(async () => {
    origin = await platform().app.listen({ port: 0, host: '127.0.0.1' })
  })

  return {
    platform,
    ann,
    cyd,
    /** The path of the shared area. */
    share: () => join(platform().dataDir, 'nfsshare'),
    /** The address of the platform. */
    origin: () => origin,

    /** A ticket of Ann, or of the user of another token, for one file. */
    async ticketFor(this: void, path: string, token = ann().token): Promise<string> {
      const { body } = await platform().call('POST', '/api/sftp/download-ticket', { token, body: { path } })
      return String(body.data.token)
    },
    download: (path: string, token: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${origin}/api/sftp/download?path=${encodeURIComponent(path)}&token=${encodeURIComponent(token)}`, {
        headers,
      }),
    /** Requests several files or directories as Ann. */
    zipOf: (files: { path: string; name: string }[]): Promise<Response> =>
      fetch(`${origin}/api/sftp/download-multiple`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann().token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ files }),
      }),
  }
}
