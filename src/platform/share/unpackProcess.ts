import type { FileHandle } from 'node:fs/promises'
import type { ErrorCode } from '../../contract/errors'
import { AppError } from '../errors'
import { runArchiveProcess } from './archiveProcess'
import { damaged, type ExtractionLimits } from './extraction'
import type { HeldDirectory } from './jail'
import type { JobControl } from './jobs'
import type { UnpackSaid } from './unpackMain'

/** What reading an archive may take: headers can be made to want gigabytes. In bytes. */
const MEMORY = 512 * 2 ** 20
/** It tells four times a second how far it is; one that does not is busy with a header that has no end. In milliseconds. */
const SILENCE_MS = 60_000

/**
 * Extracts a `.zip`, `.tar`, `.tar.gz`, `.tgz` or `.gz` into an empty directory, in a process of its own with limits on memory, size and entries.
 * @param stem what the one file of a `.gz` is called.
 * @throws AppError INVALID_INPUT (damaged, encrypted, a name that leads out), TOO_LARGE; errors of the file system; the signal's reason
 */
export async function unpackInProcess(archive: FileHandle, kind: string, stem: string, to: HeldDirectory, limits: ExtractionLimits, control: JobControl): Promise<void> {
  let failure: Extract<UnpackSaid, { failure: unknown }>['failure'] | undefined
  const end = await runArchiveProcess({
    program: 'share/unpackMain',
    args: [kind, stem, JSON.stringify(limits)],
    descriptors: [archive.fd, to.fd],
    name: stem,
    signal: control.signal,
    memory: MEMORY,
    silence: SILENCE_MS,
    onLine(line) {
      const said = JSON.parse(line) as UnpackSaid
      if ('progress' in said) control.progress(said.progress)
      else failure = said.failure
    },
  })
  if (end === 'memory') throw new AppError('TOO_LARGE', `The archive was not extracted: unpacking it takes more than ${MEMORY / 2 ** 20} MiB of memory.`)
  if (failure?.isExpected) throw new AppError(failure.code as ErrorCode, failure.message)
  if (failure) throw Object.assign(new Error(failure.message), { code: failure.code })
  if (typeof end === 'string' || end.code !== 0) throw damaged(kind)
}
