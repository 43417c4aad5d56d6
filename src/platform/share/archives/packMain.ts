import '../../noDebugger'
import { once } from 'node:events'
import { constants, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { pack as createPack, type Pack } from 'tar-stream'
import { AppError } from '../../errors'
import { serveArchiveTask } from './archiveTask'
import { openInheritedDirectory, type OpenDirectory } from '../jail'
import { PERMISSION_BITS } from '../permissions'
import type { JobControl } from '../transfers/jobs'
import { chunksOf, writeStream } from '../streams'
import { emptyBytesOf, HOLES_LIMIT, tooManyHolesMessage } from '../replicas/sparseFiles'
import { archiveTimeOf, measureTree, walkTree, type TreeEntry } from '../walk'

export interface PackTask {
  /** Names in the directory. */
  tops: string[]
  /** Error text when none of them is a file or a directory. */
  nothing: string
}

/** Counts the holes of a file. @throws AppError TOO_LARGE if those of all files so far exceed the limit */
type HolesLimit = (path: string, stats: Stats) => void

/**
 * Packing long empty files takes days and holds a place of the queue meanwhile. An instance can make such files without
 * using disk space.
 */
function createHolesLimit(): HolesLimit {
  let holes = 0
  return (path, stats) => {
    holes += emptyBytesOf(stats)
    if (holes > HOLES_LIMIT)
      throw new AppError(
        'TOO_LARGE',
        `The archive was not created: ${tooManyHolesMessage(path, stats, 'cannot be packed')}`,
      )
  }
}

/** Child process that creates a `.tar.gz`. Descriptor 3 is the source directory, 4 the empty file for the archive. */
serveArchiveTask<PackTask>(async ({ tops, nothing }, control) => {
  const directory = await openInheritedDirectory(3)
  let entryCount = 0
  let total = 0
  const limitHoles = createHolesLimit()
  for (const top of tops) {
    const measured = await measureTree(directory, top, control.signal, limitHoles)
    entryCount += measured.entries
    total += measured.bytes
  }
  if (entryCount === 0) throw new AppError('CONFLICT', nothing)
  control.progress({ total })
  const file = await open('/proc/self/fd/4', constants.O_WRONLY)
  const tar = createPack()
  tar.on('error', () => undefined)
  const added = addAll(tar, directory, tops, control).catch((error: Error) => void tar.destroy(error))
  // Level 5 takes four fifths of the time of zlib's default level for 1 % more bytes.
  await writeStream(
    [tar as unknown as Readable, createGzip({ level: 5, chunkSize: 2 ** 18 })],
    file,
    control.signal,
  ).finally(() => added)
  await file.close()
})

async function addAll(
  tar: Pack,
  directory: OpenDirectory,
  tops: string[],
  { signal, progress }: JobControl,
): Promise<void> {
  let done = 0
  // Again, because an instance may have made files longer meanwhile.
  const limitHoles = createHolesLimit()
  for (const top of tops) {
    for await (const entry of walkTree(directory, top, signal)) {
      progress({ entry: entry.path })
      const { path, stats, target } = entry
      const header = { name: path, mode: stats.mode & PERMISSION_BITS, mtime: archiveTimeOf(stats) }
      if (entry.type === 'directory') tar.entry({ ...header, name: `${path}/`, type: 'directory' })
      else if (target !== undefined) tar.entry({ ...header, type: 'symlink', linkname: target })
      else await addFile(tar, header, entry, limitHoles, (bytes) => progress({ done: (done += bytes) }))
    }
  }
  tar.finalize()
}

async function addFile(
  tar: Pack,
  header: { name: string; mode: number; mtime: Date },
  entry: TreeEntry,
  limitHoles: HolesLimit,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const file = await entry.open()
  if (!file) return
  const { handle, stats } = file
  const tarClosed = new AbortController()
  const abort = () => tarClosed.abort()
  tar.on('close', abort)
  try {
    limitHoles(entry.path, stats)
    // The size is written first: a file that grows while it is packed is cut, one that shrinks is padded with zeros.
    const sink = tar.entry({ ...header, size: stats.size, type: 'file' })
    // The archive's own error has the reason. An error without a listener would end the process.
    sink.on('error', () => undefined)
    let left = stats.size
    const write = async (chunk: Buffer) => {
      left -= chunk.length
      onBytes(chunk.length)
      if (!sink.write(chunk) && !tar.destroyed)
        await once(sink, 'drain', { signal: tarClosed.signal }).catch(() => undefined)
    }
    for await (const chunk of chunksOf(handle, stats.size)) {
      if (tar.destroyed) return
      await write(chunk)
    }
    while (left > 0 && !tar.destroyed) await write(Buffer.alloc(Math.min(left, 2 ** 20)))
    sink.end(undefined)
  } finally {
    tar.off('close', abort)
    await handle.close()
  }
}
