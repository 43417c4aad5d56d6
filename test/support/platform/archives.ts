import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { crc32, gzipSync } from 'node:zlib'
import { pack, type Header } from 'tar-stream'
import { ZipFile } from 'yazl'

/**
 * Makes a zip of these files; a name that ends in `/` is a directory. For names that yazl refuses see `renameInZip`.
 */
export async function makeZip(
  files: Record<string, string | Buffer>,
  modes: Record<string, number> = {},
): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, content] of Object.entries(files)) {
    if (name.endsWith('/')) zip.addEmptyDirectory(name)
    else
      zip.addBuffer(Buffer.from(content), name, {
        mode: modes[name] ?? 0o100644,
        mtime: new Date('2024-05-06T07:08:10Z'),
      })
  }
  zip.end()
  return buffer(zip.outputStream)
}

/** Replaces a name by another one of the same length, in Latin-1, in the local and central headers. */
export function renameInZip(zip: Buffer, from: string, to: string): Buffer {
  if (from.length !== to.length) throw new Error('The names must be of one length')
  return Buffer.from(zip.toString('latin1').replaceAll(from, to), 'latin1')
}

/** Makes names in UTF-8 unmarked in the local and central headers, as macOS and Info-ZIP write them. */
export function withoutUtf8Mark(zip: Buffer): Buffer {
  const unmarked = Buffer.from(zip)
  for (const [signature, flags] of [
    ['PK\x03\x04', 6],
    ['PK\x01\x02', 8],
  ] as const)
    for (let at = zip.indexOf(signature); at !== -1; at = zip.indexOf(signature, at + 1))
      unmarked.writeUInt16LE(zip.readUInt16LE(at + flags) & ~0x800, at + flags)
  return unmarked
}

/** Makes a tar of these entries without validating them. */
export async function makeTar(entries: (Partial<Header> & { name: string; content?: string })[]): Promise<Buffer> {
  const tar = pack()
  for (const { content, ...header } of entries) {
    if (content === undefined) tar.entry({ type: 'file', ...header })
    else tar.entry(header, content)
  }
  tar.finalize()
  return buffer(tar)
}

export async function makeTarGz(entries: Parameters<typeof makeTar>[0]): Promise<Buffer> {
  return gzipSync(await makeTar(entries))
}

/** Made by 7-Zip itself. A value that begins with `->` is a link. */
export async function make7z(files: Record<string, string>, ...options: string[]): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-7z-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      if (content.startsWith('->')) await symlink(content.slice(2), join(directory, name))
      else await writeFile(join(directory, name), content)
    }
    await promisify(execFile)(
      process.execPath,
      [require.resolve('7z-wasm/cli.js'), 'a', '-snl', ...options, 'made.7z', ...Object.keys(files)],
      { cwd: directory },
    )
    return await readFile(join(directory, 'made.7z'))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Makes a 7z archive of an empty file with any name, following 7-Zip's "7zFormat.txt". */
export function make7zOf(name: string): Buffer {
  const names = Buffer.from(`${name}\0`, 'utf16le')
  const header = Buffer.concat([
    // Header, FilesInfo of one file, which has no stream and is no directory.
    Buffer.of(1, 5, 1, 0x0e, 1, 0x80, 0x0f, 1, 0x80, 0x11),
    sevenZipNumber(1 + names.length),
    Buffer.of(0),
    names,
    Buffer.of(0, 0),
  ])
  const start = Buffer.alloc(20)
  start.writeBigUInt64LE(BigInt(header.length), 8)
  start.writeUInt32LE(crc32(header), 16)
  const signature = Buffer.from('377abcaf271c000400000000', 'hex')
  signature.writeUInt32LE(crc32(start), 8)
  return Buffer.concat([signature, start, header])
}

/** In eight bytes, after one that says so. */
function sevenZipNumber(value: number): Buffer {
  const bytes = Buffer.alloc(9, 0xff)
  bytes.writeBigUInt64LE(BigInt(value), 1)
  return bytes
}

/** Makes a RAR 5 archive of stored files, following RARLAB's "RAR 5.0 archive format". */
export function makeRar(files: Record<string, string>): Buffer {
  const blocks = [Buffer.from('526172211a070100', 'hex'), rarBlock(1, 0, [vint(0)])]
  for (const [name, content] of Object.entries(files)) {
    const data = Buffer.from(content)
    const sum = Buffer.alloc(4)
    sum.writeUInt32LE(crc32(data))
    const encoded = Buffer.from(name)
    // File flags: CRC32 present, no compression, host system Unix.
    blocks.push(
      rarBlock(2, data.length, [
        vint(4),
        vint(data.length),
        vint(0o100644),
        sum,
        vint(0),
        vint(1),
        vint(encoded.length),
        encoded,
      ]),
      data,
    )
  }
  return Buffer.concat([...blocks, rarBlock(5, 0, [vint(0)])])
}

function rarBlock(type: number, dataSize: number, fields: Buffer[]): Buffer {
  const body = Buffer.concat([
    vint(type),
    vint(dataSize > 0 ? 2 : 0),
    ...(dataSize > 0 ? [vint(dataSize)] : []),
    ...fields,
  ])
  const sized = Buffer.concat([vint(body.length), body])
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(sized))
  return Buffer.concat([sum, sized])
}

function vint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest % 128) | 0x80)
  }
}
