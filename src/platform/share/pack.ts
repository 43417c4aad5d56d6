import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { pack as createPack, type Pack } from 'tar-stream'
import { AppError } from '../errors'
import { fileFailure } from './fileFailure'
import { holding, type HeldDirectory, type Jail } from './jail'
import type { JobControl } from './jobs'
import { lstatOf } from './placing'
import { chunksOf, writeStream } from './streams'
import type { Temporaries } from './temporaries'
import { measureTree, walkTree, type TreeEntry } from './walk'
import { namesOf, parentAndName, printable, wirePathOf } from './wirePath'

/** Makes `.tar.gz` archives of entries of one directory, beside them. */
export interface Packer {
  /**
   * @param wantedName of the archive; where it is taken, the next free one is used.
   * @returns the archive. Nothing is left behind by a failure.
   * @throws AppError NOT_FOUND, INVALID_INPUT (not all in one directory), CONFLICT (nothing of it can be packed), DISK_FULL; the signal's reason
   */
  pack(paths: string[], wantedName: string, control: JobControl): Promise<{ name: string; path: string }>
}

export function createPacker(jail: Jail, temporaries: Temporaries): Packer {
  return {
    async pack(paths, wantedName, control) {
      const entries = paths.map((path) => parentAndName(namesOf(path, 'files'), 'files'))
      const above = entries[0]?.[0] ?? []
      if (entries.some(([other]) => wirePathOf(other) !== wirePathOf(above))) throw new AppError('INVALID_INPUT', 'files: must all be in one directory', { field: 'files' })
      const name = await holding(jail.directory(above), async (directory) => {
        const tops = [...new Set(entries.map(([, top]) => top))]
        let [entryCount, total] = [0, 0]
        for (const top of tops) {
          if (!(await lstatOf(directory, top))) throw new AppError('NOT_FOUND', `There is no ${printable(wirePathOf([...above, top]))}.`)
          const measured = await measureTree(directory, top, control.signal)
          entryCount += measured.entries
          total += measured.bytes
        }
        if (entryCount === 0) {
          const what = tops.length === 1 ? `${printable(paths[0] ?? '')} is neither a file nor a directory` : `none of these ${tops.length} is a file or a directory`
          throw new AppError('CONFLICT', `There is nothing to pack: ${what}. Links are packed only with the directory that they are in.`)
        }
        control.progress({ total })
        const temporary = await temporaries.file(directory)
        try {
          const tar = createPack()
          tar.on('error', () => undefined)
          const filled = fill(tar, directory, tops, control).catch((error: Error) => void tar.destroy(error))
          // Level 5: four fifths of the time of zlib's default for a hundredth more.
          // Also where the writing fails: nothing is read any more when the directory is let go.
          await writeStream([tar as unknown as Readable, createGzip({ level: 5, chunkSize: 2 ** 18 })], temporary.handle, control.signal).finally(() => filled)
        } catch (error) {
          await temporary.discard()
          throw error
        }
        return temporary.placeUnderFreeName(wantedName)
      }).catch((error: unknown) => {
        throw fileFailure(error, paths[0] ?? '')
      })
      return { name, path: wirePathOf([...above, name]) }
    },
  }
}

async function fill(tar: Pack, directory: HeldDirectory, tops: string[], { signal, progress }: JobControl): Promise<void> {
  let done = 0
  for (const top of tops) {
    for await (const entry of walkTree(directory, top, signal)) {
      progress({ entry: entry.path })
      const { path, stats, target } = entry
      const header = { name: path, mode: stats.mode & 0o7777, mtime: stats.mtime }
      if (entry.type === 'directory') tar.entry({ ...header, name: `${path}/`, type: 'directory' })
      else if (target !== undefined) tar.entry({ ...header, type: 'symlink', linkname: target })
      else await addFile(tar, header, entry, (bytes) => progress({ done: (done += bytes) }))
    }
  }
  tar.finalize()
}

async function addFile(tar: Pack, header: { name: string; mode: number; mtime: Date }, entry: TreeEntry, onBytes: (bytes: number) => void): Promise<void> {
  const file = await entry.open()
  if (!file) return
  const { handle, stats } = file
  const gone = new AbortController()
  const leave = () => gone.abort()
  tar.on('close', leave)
  try {
    // The size is written first: a log that grows meanwhile ends there, one that shrinks is filled up with zeros.
    const sink = tar.entry({ ...header, size: stats.size, type: 'file' })
    // It fails with the archive, which tells why; an error that nobody listens to would end the process.
    sink.on('error', () => undefined)
    let left = stats.size
    const write = async (chunk: Buffer) => {
      left -= chunk.length
      onBytes(chunk.length)
      if (!sink.write(chunk) && !tar.destroyed) await once(sink, 'drain', { signal: gone.signal }).catch(() => undefined)
    }
    for await (const chunk of chunksOf(handle, stats.size)) {
      if (tar.destroyed) return
      await write(chunk)
    }
    while (left > 0 && !tar.destroyed) await write(Buffer.alloc(Math.min(left, 2 ** 20)))
    sink.end(undefined)
  } finally {
    tar.off('close', leave)
    await handle.close()
  }
}
