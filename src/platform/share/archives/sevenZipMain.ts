import '../../noDebugger'
import { fstatSync, readSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import SevenZip from '7z-wasm'
import { confineTo, type NodeFs } from './confinedTarget'
import { exitCodes } from './sevenZipExits'

/**
 * Child process for archives that only 7-Zip reads: `list|extract <name> <limits> [switches of 7-Zip]`. Descriptor 3 is
 * the archive, 4 the empty target directory. Prints 7-Zip's listing, or JSON lines with the bytes written. Exits with
 * 0, 7-Zip's own code or one of `exitCodes`, and at once when standard input closes.
 */
const ARCHIVE_FD = 3
const TARGET_FD = 4
const OPEN_FOR_WRITING = 0o3
/** Bytes of a line of the listing. An archive of 3 kB may hold a name of 10 MB, which would block the platform. */
const LINE_LIMIT = 64 * 1024
/** Interval of progress reports within one large file. */
const PROGRESS_INTERVAL_MS = 250

/** 7-Zip blocks the main thread, so a worker watches standard input, which closes when the platform ends. */
const WATCH_INPUT = `
  const input = new (require('node:net').Socket)({ fd: 0, readable: true, writable: false })
  const end = () => process.kill(process.pid, 'SIGKILL')
  input.on('end', end).on('error', end).resume()
`

async function main([mode, name = '', limitsText = '{}', ...switches]: string[]): Promise<void> {
  new Worker(WATCH_INPUT, { eval: true }).unref()
  const limits = JSON.parse(limitsText) as { entries: number; size: number }
  const line: number[] = []
  const sevenZip = await SevenZip({
    // Only a password is asked for, also for the listing if the names are encrypted.
    stdin: () => process.exit(exitCodes.encrypted),
    stdout: (byte) => {
      if (mode !== 'list') return
      line.push(byte)
      if (line.length > LINE_LIMIT) process.exit(exitCodes.longName)
      if (byte !== 10) return
      process.stdout.write(Buffer.from(line))
      line.length = 0
    },
    stderr: () => undefined,
    quit: (code) => {
      process.exitCode = code
    },
  })
  const { FS, NODEFS } = sevenZip as unknown as {
    FS: Record<string, (...args: unknown[]) => unknown>
    NODEFS: NodeFs
  }
  FS.mkdir?.('/archive')
  exposeArchive(FS, `/archive/${name}`)
  if (mode === 'list') {
    sevenZip.callMain(['l', '-slt', '-ba', ...switches, `/archive/${name}`])
    return
  }

  // Count actual writes, because headers may claim any size.
  let size = 0
  let entries = 0
  let sentAt = 0
  const sendProgress = (about: { entry?: string } = {}) => {
    sentAt = performance.now()
    process.stdout.write(`${JSON.stringify({ size, ...about })}\n`)
  }
  const wrap = (operation: string, before: (...args: unknown[]) => void) => {
    const original = FS[operation]
    FS[operation] = (...args) => {
      before(...args)
      return original?.(...args)
    }
  }
  const countEntry = () => {
    entries += 1
    if (entries > limits.entries) process.exit(exitCodes.tooManyEntries)
  }
  wrap('mkdir', countEntry)
  wrap('open', (path, flags) => {
    if (typeof flags === 'number' && flags & OPEN_FOR_WRITING) {
      countEntry()
      sendProgress({ entry: String(path).replace(/^\/target\//, '') })
    }
  })
  wrap('write', (stream, _buffer, _offset, length) => {
    const { path } = stream as { path?: string }
    if (path?.startsWith('/dev/')) return
    size += Number(length)
    if (size > limits.size) process.exit(exitCodes.tooLarge)
    if (performance.now() - sentAt > PROGRESS_INTERVAL_MS) sendProgress()
  })
  for (const operation of ['symlink', 'link']) wrap(operation, () => process.exit(exitCodes.link))
  // 7-Zip sets an absent mode to 0: ignore that. The mask drops setuid and setgid, so that an archive cannot grant
  // another user's rights.
  const chmod = FS.chmod
  FS.chmod = (path, bits, ...rest) => (bits ? chmod?.(path, Number(bits) & 0o777, ...rest) : undefined)
  FS.mkdir?.('/target')
  entries = 0
  // Mount the working directory instead of its descriptor path, which Emscripten would take for a link.
  process.chdir(`/proc/self/fd/${TARGET_FD}`)
  FS.mount?.(NODEFS, { root: '.' }, '/target')
  confineTo(TARGET_FD, NODEFS)
  FS.chdir?.('/target')
  sevenZip.callMain(['x', '-y', '-bd', '-o/target', ...switches, `/archive/${name}`])
}

/** A file of Emscripten's file system in memory. */
interface MemoryNode {
  usedBytes: number
  stream_ops: object
}

/**
 * Exposes the open archive to 7-Zip under this name. Opening it by name again would be unsafe: a process that can write
 * to its directory may have replaced it with a link to any file.
 */
function exposeArchive(FS: Record<string, (...args: unknown[]) => unknown>, path: string): void {
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
