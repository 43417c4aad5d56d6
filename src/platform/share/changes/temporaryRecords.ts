import { mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, errorCodeOf } from '../../errors'

/** Where unfinished files are recorded, so that those of a killed platform can be removed. */
export interface TemporaryRecords {
  /** Call it before the file is created. @param path absolute. @throws AppError DISK_FULL */
  add(id: string, path: string): Promise<void>
  remove(id: string): Promise<void>
  /** Records of platforms that no longer run. An empty path means that the file was not created yet. */
  leftovers(): Promise<{ id: string; path: string }[]>
}

/** Records in the data directory. Only one process at a time may use it, so at its start every record is a leftover. */
export async function openTemporaryRecords(dataDir: string): Promise<TemporaryRecords> {
  const directory = join(dataDir, 'temporaries')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  return {
    async add(id, path) {
      const file = join(directory, id)
      await writeFile(file, path).catch(async (error: unknown) => {
        // The record may have been created without its content.
        await unlink(file).catch(() => undefined)
        if (!['ENOSPC', 'EDQUOT'].includes(errorCodeOf(error) ?? '')) throw error
        throw new AppError('DISK_FULL', 'The disk of the platform’s data directory is full. Nothing was changed.')
      })
    },
    remove: (id) => unlink(join(directory, id)),
    leftovers: async () =>
      Promise.all(
        (await readdir(directory)).map(async (id) => ({ id, path: await readFile(join(directory, id), 'utf8') })),
      ),
  }
}
