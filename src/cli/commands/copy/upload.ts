import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, posix, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Done } from '../../../contract/envelope'
import { dataOf, MAX_WAITS, retryAfterOf, type Api } from '../../api/client'
import { CliError, EXIT } from '../../failure'
import type { Progress } from './progress'
import { walkLocal, type LocalFile } from './localTree'
import { remoteEntry } from './remoteEntry'

interface UploadParts {
  progress: Progress
  note: (text: string) => void
  signal: AbortSignal
}

/** The platform accepts a thousand, but a failed form is sent again as a whole. */
const FILES_PER_FORM = 200

/** Copies a file or directory to the server; into `to` if that is a directory, as `cp` does. */
export async function upload(api: Api, from: string, to: string, parts: UploadParts): Promise<void> {
  const stats = await stat(from).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(EXIT.notFound, `${from} cannot be read: ${error.message}`)
  })
  // `directory/.` means the content of the directory.
  const name = stats.isDirectory() && /(?:^|\/)\.$/.test(from) ? '' : basename(resolve(from))
  const isInto = (await remoteEntry(api, to)) === 'directory'
  const target = isInto ? posix.join(to, name) : to
  if (stats.isFile()) return sendForm(api, posix.dirname(target), [{ path: from, name: posix.basename(target) }], parts)
  if (!stats.isDirectory()) throw new CliError(EXIT.failed, `${from} is neither a file nor a directory.`)
  const skip = (path: string) => parts.note(`Left out: ${path} is neither a file nor a directory.`)
  for await (const { segments, files } of walkLocal(from, skip)) {
    const directory = posix.join(target, ...segments)
    await makeDirectory(api, directory)
    for (let at = 0; at < files.length; at += FILES_PER_FORM)
      await sendForm(api, directory, files.slice(at, at + FILES_PER_FORM), parts)
  }
}

async function makeDirectory(api: Api, path: string): Promise<void> {
  if ((await remoteEntry(api, path)) !== 'directory')
    dataOf(await api.calls.POST('/api/sftp/directory', { body: { path } }), Done)
}

async function sendForm(api: Api, directory: string, files: LocalFile[], parts: UploadParts): Promise<void> {
  const { progress, note, signal } = parts
  for (let waits = 0; ; waits += 1) {
    const before = { ...progress }
    const boundary = `quarterdeck-${randomUUID()}`
    const form = Readable.toWeb(Readable.from(formOf(boundary, directory, files, progress)))
    const result = await api.calls.POST('/api/sftp/upload', {
      // Only for the types: the serializer sends the form.
      body: { path: directory, files: [] },
      bodySerializer: () => form,
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      duplex: 'half',
    })
    const seconds = retryAfterOf(result.response)
    if (seconds === undefined || waits >= MAX_WAITS) {
      dataOf(result, Done)
      progress.files += files.length
      return
    }
    Object.assign(progress, before)
    note(`The limit of calls is reached: trying again in ${seconds} s.`)
    await delay(seconds * 1000, undefined, { signal })
  }
}

/** A form (RFC 7578) whose files are streamed. */
async function* formOf(
  boundary: string,
  directory: string,
  files: LocalFile[],
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  const head = (text: string) => Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${text}\r\n\r\n`)
  const names = JSON.stringify(files.map(({ name }) => name))
  yield Buffer.concat([head('name="path"'), Buffer.from(directory), Buffer.from('\r\n')])
  // File names are sent as a field, because names of parts cannot contain every character.
  yield Buffer.concat([head('name="names"'), Buffer.from(names), Buffer.from('\r\n')])
  for (const { path } of files) {
    yield head('name="files"; filename="file"')
    for await (const chunk of readLocal(path)) {
      progress.bytes += chunk.length
      yield chunk
    }
    yield Buffer.from('\r\n')
  }
  yield Buffer.from(`--${boundary}--\r\n`)
}

/** The content of a file. @throws CliError if it cannot be read */
async function* readLocal(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path) as AsyncIterable<Buffer>
  } catch (error) {
    throw new CliError(EXIT.failed, `${path} cannot be read: ${(error as Error).message}`)
  }
}
