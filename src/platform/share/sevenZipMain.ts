import { fstatSync, readSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import SevenZip from '7z-wasm'
import { exitCodes } from './sevenZipExits'

/**
 * A process of its own for archives that only 7-Zip reads: `sevenZipMain list|extract <name> <limits>`. Descriptor 3 is the
 * archive, 4 the empty directory it is extracted to; it sees no other file. Its standard output is 7-Zip's listing, or
 * lines of JSON with what was written so far. It ends with 0, 7-Zip's own code, or one of `exitCodes`; at once when its standard input ends.
 */
const ARCHIVE_FD = 3
const OPEN_FOR_WRITING = 0o3
/** Between lines about one large file. In milliseconds. */
const TELL_MS = 250

/** 7-Zip blocks the main thread, so a worker watches standard input: it ends with the platform, and then nobody uses the result. */
const WATCH_INPUT = `
  const input = new (require('node:net').Socket)({ fd: 0, readable: true, writable: false })
  const end = () => process.kill(process.pid, 'SIGKILL')
  input.on('end', end).on('error', end).resume()
`

async function main([mode, name = '', limitsText = '{}']: string[]): Promise<void> {
  new Worker(WATCH_INPUT, { eval: true }).unref()
  const limits = JSON.parse(limitsText) as { entries: number; size: number }
  const line: number[] = []
  const seven = await SevenZip({
    // A password is asked for here: there is none.
    stdin: () => null as unknown as number,
    stdout: (byte) => {
      if (mode !== 'list') return
      line.push(byte)
      if (byte !== 10) return
      process.stdout.write(Buffer.from(line))
      line.length = 0
    },
    stderr: () => undefined,
    quit: (code) => {
      process.exitCode = code
    },
  })
  const { FS, NODEFS } = seven as unknown as { FS: Record<string, (...given: unknown[]) => unknown>; NODEFS: unknown }
  FS.mkdir?.('/archive')
  showArchive(FS, `/archive/${name}`)
  if (mode === 'list') {
    seven.callMain(['l', '-slt', '-ba', `/archive/${name}`])
    return
  }

  // What is written is counted where it is written: headers may claim anything.
  let [size, entries, toldAt] = [0, 0, 0]
  const tell = (about: { entry?: string } = {}) => {
    toldAt = Date.now()
    process.stdout.write(`${JSON.stringify({ size, ...about })}\n`)
  }
  const wrap = (verb: string, before: (...given: unknown[]) => void) => {
    const original = FS[verb]
    FS[verb] = (...given) => {
      before(...given)
      return original?.(...given)
    }
  }
  const count = () => {
    entries += 1
    if (entries > limits.entries) process.exit(exitCodes.tooManyEntries)
  }
  wrap('mkdir', count)
  wrap('open', (path, flags) => {
    if (typeof flags === 'number' && flags & OPEN_FOR_WRITING) {
      count()
      tell({ entry: String(path).replace(/^\/target\//, '') })
    }
  })
  wrap('write', (stream, _buffer, _offset, length) => {
    const { path } = stream as { path?: string }
    if (path?.startsWith('/dev/')) return
    size += Number(length)
    if (size > limits.size) process.exit(exitCodes.tooLarge)
    if (Date.now() - toldAt > TELL_MS) tell()
  })
  for (const verb of ['symlink', 'link']) wrap(verb, () => process.exit(exitCodes.link))
  // 7-Zip sets modes that the archive does not have to nothing at all.
  // And nobody becomes another user by an archive.
  const chmod = FS.chmod
  FS.chmod = (path, given, ...rest) => (given ? chmod?.(path, Number(given) & 0o777, ...rest) : undefined)
  FS.mkdir?.('/target')
  entries = 0
  // The working directory, because a path that ends in a descriptor looks like a link to what mounts it.
  process.chdir('/proc/self/fd/4')
  FS.mount?.(NODEFS, { root: '.' }, '/target')
  FS.chdir?.('/target')
  seven.callMain(['x', '-y', '-bd', '-o/target', `/archive/${name}`])
}

/** A file of Emscripten's file system in memory. */
interface MemoryNode {
  usedBytes: number
  stream_ops: object
}

/**
 * Shows the open archive to 7-Zip as a file of this name. Opened by its name, it could be another file by then: who writes to its
 * directory may replace it with a link that leads anywhere.
 */
function showArchive(FS: Record<string, (...given: unknown[]) => unknown>, path: string): void {
  FS.writeFile?.(path, '')
  const { node } = FS.lookupPath?.(path) as { node: MemoryNode }
  node.usedBytes = fstatSync(ARCHIVE_FD).size
  node.stream_ops = {
    ...node.stream_ops,
    read: (_stream: unknown, buffer: Int8Array, offset: number, length: number, position: number) =>
      readSync(ARCHIVE_FD, buffer, offset, length, position),
  }
}

void main(process.argv.slice(2))
