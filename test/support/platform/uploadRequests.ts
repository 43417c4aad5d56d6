import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { usePlatform } from './startPlatform'

/** In bytes: the limit of an uploaded file in these tests. */
export const LIMIT = 2 ** 20

export type Part = [field: string, value: string] | [field: 'files', content: Buffer, name: string]

interface UploadResponse {
  status: number
  body: { code?: string; message?: string; data?: { files: { name: string; path: string }[] } }
}

/** Starts a platform that listens, for the tests of a file, with a user who uploads files. */
export function useUploadRequests() {
  const { platform, account: ann } = usePlatform('ann', () => ({ uploadLimit: LIMIT }))
  const share = () => join(platform().dataDir, 'nfsshare')
  let origin: string
  beforeAll(async () => {
    origin = await platform().app.listen({ port: 0, host: '127.0.0.1' })
  })

  return {
    platform,
    ann,
    /** The path of the shared area. */
    share,
    port: () => Number(new URL(origin).port),

    async upload(this: void, parts: Part[], token = ann().token): Promise<UploadResponse> {
      const form = new FormData()
      for (const [field, value, name] of parts) {
        if (typeof value === 'string') form.append(field, value)
        else form.append(field, new Blob([new Uint8Array(value)]), name)
      }
      const answer = await fetch(`${origin}/api/sftp/upload`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: form,
      })
      return { status: answer.status, body: (await answer.json()) as UploadResponse['body'] }
    },

    /** Creates a directory of the shared area with files. @returns its path in the API */
    async makeDirectory(this: void, name: string, files: Record<string, string> = {}): Promise<string> {
      await mkdir(join(share(), name))
      for (const [file, content] of Object.entries(files)) await writeFile(join(share(), name, file), content)
      return `/nfsshare/${name}`
    },

    /** The descriptors of this process on files of the shared area. */
    async descriptors(this: void): Promise<string[]> {
      const fds = await readdir('/proc/self/fd')
      const paths = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
      return paths.filter((path) => path.startsWith(share()))
    },

    /** The records of unfinished files. */
    temporaryRecords: () => readdir(join(platform().dataDir, 'temporaries')),
  }
}

/** A form as bytes, for clients that do not send all of it. */
export function formOf(fields: Record<string, string>, name: string, content: Buffer): { body: Buffer; type: string } {
  const head = Object.entries(fields).map(
    ([field, value]) => `--edge\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  )
  const file = `--edge\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  return {
    body: Buffer.concat([Buffer.from(head.join('') + file), content, Buffer.from('\r\n--edge--\r\n')]),
    type: 'multipart/form-data; boundary=edge',
  }
}
