import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DownloadTicketResponse } from '../../../contract/file'
import { NOT_INCLUDED_NAME, SHARED_ROOT } from '../../../contract/pageRules'
import { bodyOf, connectionFailure, dataOf, type Api } from '../../api/client'
import { CliError, EXIT } from '../../failure'
import type { Progress } from './progress'
import { isLink, isLocalDirectory, walkLocal } from './localTree'
import { remoteEntry } from './remoteEntry'
import { unzip } from './unzip'

interface DownloadParts {
  progress: Progress
  signal: AbortSignal
}

/**
 * Copies a file or directory from the server; into `to` if that is a directory, as `cp` does. Only complete files get
 * their final name.
 */
export async function download(api: Api, from: string, to: string, parts: DownloadParts): Promise<void> {
  // `remote:/lobby/.` means the content of the directory.
  const isContentOnly = from.endsWith('/.')
  const source = isContentOnly ? posix.dirname(from) : from
  const kind = await remoteEntry(api, source)
  if (!kind) throw new CliError(EXIT.notFound, `There is no ${source} on the server.`)
  const isIntoDirectory = await isLocalDirectory(to)
  const target = resolve(isIntoDirectory && !isContentOnly ? join(to, posix.basename(source)) : to)
  if (!(await isLocalDirectory(dirname(target))))
    throw new CliError(EXIT.notFound, `There is no directory ${dirname(target)}.`)
  if (kind === 'file') await downloadFile(api, source, target, parts)
  else await downloadDirectory(api, source, target, parts)
}

async function downloadFile(
  api: Api,
  from: string,
  target: string,
  { progress, signal }: DownloadParts,
): Promise<void> {
  const { token } = dataOf(
    await api.calls.POST('/api/sftp/download-ticket', { body: { path: from } }),
    DownloadTicketResponse,
  )
  const result = await api.calls.GET('/api/sftp/download', {
    params: { query: { path: from, token } },
    parseAs: 'stream',
  })
  // Without the file's own name, which may be as long as a name can be.
  const unfinished = join(dirname(target), `.quarterdeck-${randomUUID()}.part`)
  try {
    const body = bodyOf(result as { data?: AsyncIterable<Uint8Array> | null; response: Response })
    await receive(api, body ?? [], unfinished, { signal, onBytes: (count) => (progress.bytes += count) })
    await rename(unfinished, target)
  } finally {
    await rm(unfinished, { force: true })
  }
  progress.files += 1
}

/** The server sends a ZIP archive, which is unpacked within the target, or beside a new one, when it is complete. */
async function downloadDirectory(
  api: Api,
  from: string,
  target: string,
  { progress, signal }: DownloadParts,
): Promise<void> {
  const result = await api.calls.POST('/api/sftp/download-multiple', {
    body: { files: [{ path: from, name: posix.basename(from) }] },
    parseAs: 'stream',
  })
  const body = bodyOf(result as { data?: AsyncIterable<Uint8Array> | null; response: Response })
  // The directory beside a target may be on another disk, or may not be written to.
  const base = (await isLocalDirectory(target)) ? target : dirname(target)
  const unfinished = await mkdtemp(join(base, '.quarterdeck-'))
  try {
    const archive = join(unfinished, 'archive.zip')
    await receive(api, body ?? [], archive, { signal, onBytes: (count) => (progress.bytes += count) })
    const unpacked = join(unfinished, 'files')
    progress.bytes = 0
    await unzip(archive, unpacked, { progress, signal })
    const entries = await readdir(unpacked, { withFileTypes: true })
    // A ZIP of the shared root has no directory of its own. That of another directory may have a similar name, because
    // names in a ZIP have no backslash.
    const top = from === SHARED_ROOT ? undefined : entries.find((entry) => entry.isDirectory())?.name
    const note = entries.find(
      (entry) => entry.isFile() && (top !== undefined || entry.name === NOT_INCLUDED_NAME),
    )?.name
    const missing = note === undefined ? undefined : await readFile(join(unpacked, note), 'utf8')
    await moveInto(join(unpacked, top ?? ''), target)
    if (missing !== undefined) throw new CliError(EXIT.failed, `Not everything was copied: ${missing.trim()}`)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/**
 * Moves the files of a directory to another one, which may contain files already.
 * @throws CliError, before anything is moved, if a directory of the target is a link: the server chooses the names, and
 * must not place files where a link leads
 */
async function moveInto(from: string, target: string): Promise<void> {
  for await (const { segments } of walkLocal(from, () => undefined)) {
    const directory = join(target, ...segments)
    if (segments.length > 0 && (await isLink(directory)))
      throw new CliError(EXIT.failed, `${directory} is a link, which is not followed. Remove it, or copy elsewhere.`)
  }
  for await (const { segments, files } of walkLocal(from, () => undefined)) {
    const directory = join(target, ...segments)
    await mkdir(directory, { recursive: true })
    for (const { path, name } of files) await rename(path, join(directory, name))
  }
}

async function receive(
  api: Api,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  path: string,
  { signal, onBytes }: { signal: AbortSignal; onBytes: (count: number) => void },
): Promise<void> {
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      onBytes(chunk.length)
      next(null, chunk)
    },
  })
  await pipeline(body as unknown as Readable, counted, createWriteStream(path, { flags: 'wx' }), { signal }).catch(
    (error: NodeJS.ErrnoException) => {
      signal.throwIfAborted()
      // Errors of the file system name a system call.
      if (error.syscall) throw new CliError(EXIT.failed, `${path} cannot be written: ${error.message}`)
      throw connectionFailure(api.server, error)
    },
  )
}
