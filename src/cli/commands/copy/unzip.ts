import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { open, type Entry, type Options, type ZipFile } from 'yauzl'
import { CliError, EXIT } from '../../failure'
import type { Progress } from './progress'

const openZip = promisify<string, Options, ZipFile>(open)

/**
 * Unpacks an archive into a new directory. The names come from the server. yauzl refuses names that lead out of the
 * directory, and an archive of the platform has no links.
 */
export async function unzip(
  archive: string,
  directory: string,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
): Promise<void> {
  await mkdir(directory)
  const zip = await openZip(archive, { lazyEntries: true, autoClose: false }).catch(damaged)
  const read = promisify<Entry, NodeJS.ReadableStream>((entry, done) =>
    zip.openReadStream(entry, (error, stream) => done(error, stream)),
  )
  try {
    for await (const entry of entriesOf(zip)) {
      const path = join(directory, entry.fileName)
      if (entry.fileName.endsWith('/')) {
        await mkdir(path, { recursive: true })
        continue
      }
      await mkdir(dirname(path), { recursive: true })
      await pipeline(await read(entry), createWriteStream(path, { flags: 'wx' }), { signal })
      progress.files += 1
      progress.bytes += entry.uncompressedSize
    }
  } finally {
    zip.close()
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  while (true) {
    const entry = await new Promise<Entry | undefined>((resolve, reject) => {
      zip.once('entry', resolve)
      zip.once('end', () => resolve(undefined))
      zip.once('error', reject)
      zip.readEntry()
    })
    zip.removeAllListeners()
    if (!entry) return
    yield entry
  }
}

function damaged(): never {
  throw new CliError(EXIT.failed, 'The server ended the download too early. Try again.')
}
