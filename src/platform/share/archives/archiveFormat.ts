import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../../errors'

/** Where a format has its signature, in hexadecimal. A tar comes first: it begins with the name of its first entry. */
const SIGNATURES = [
  ['tar', 257, '7573746172'],
  ['zip', 0, '504b0304'],
  ['gzip', 0, '1f8b'],
  ['7z', 0, '377abcaf271c'],
  ['rar', 0, '526172211a07'],
  ['xz', 0, 'fd377a585a00'],
  ['Zstandard', 0, '28b52ffd'],
] as const
/** The digit after it is the size of its blocks. */
const BZIP2 = /^BZh[1-9]1AY&SY/

/** As what an archive is read. */
export type ArchiveKind = 'zip' | 'tar' | 'tar.gz' | 'gz' | '7z' | 'rar'

/**
 * Finds as what an archive is read. Its first bytes decide, because archives are renamed; without known ones, its name.
 * @param extension of the name, in lower case
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for what is compressed in another way than its name says
 */
export async function archiveKind(archive: FileHandle, extension: string): Promise<ArchiveKind> {
  // 7-Zip recognises by itself what it reads.
  if (extension === '7z' || extension === 'rar') return extension
  const named = extension === 'tgz' ? 'tar.gz' : (extension as ArchiveKind)
  const format = await formatOf(archive)
  if (format === 'bzip2' || format === 'xz' || format === 'Zstandard')
    throw new AppError(
      'UNSUPPORTED_MEDIA_TYPE',
      `The archive was not extracted: it is not a .${extension} file, but compressed with ${format}. Pack it again as .tar.gz, .zip or .7z.`,
    )
  if (format === 'gzip') return named === 'gz' ? 'gz' : 'tar.gz'
  return format ?? named
}

async function formatOf(archive: FileHandle): Promise<(typeof SIGNATURES)[number][0] | 'bzip2' | undefined> {
  const { buffer, bytesRead } = await archive.read(Buffer.alloc(512), 0, 512, 0)
  const head = buffer.subarray(0, bytesRead).toString('latin1')
  const found = SIGNATURES.find(([, at, hex]) => head.startsWith(Buffer.from(hex, 'hex').toString('latin1'), at))
  return found?.[0] ?? (BZIP2.test(head) ? 'bzip2' : undefined)
}
