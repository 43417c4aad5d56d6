import { open } from 'node:fs/promises'
import { AppError, errorCodeOf } from '../errors'
import { createExtraction, type ExtractionLimits } from './extraction'
import { holdDescriptor } from './jail'
import type { JobControl } from './jobs'
import { unpackGzip, unpackTar } from './unpackTar'
import { unpackZip } from './unpackZip'

/**
 * A process of its own for `.zip`, `.tar` and `.gz`: `unpackMain <kind> <stem> <limits>`. Descriptor 3 is the archive, 4 the empty
 * directory it is extracted to. Its standard output is lines of JSON, `UnpackSaid`: how far it is, at least once a second, and why it failed.
 */
export type UnpackSaid = { progress: { done?: number; total?: number | null; entry?: string } } | { failure: { code: string; message: string; isExpected: boolean } }

const TOLD_EVERY_MS = 250

async function main([kind, stem = '', limitsText = '{}']: string[]): Promise<void> {
  const say = (said: UnpackSaid) => void process.stdout.write(`${JSON.stringify(said)}\n`)
  // The platform is gone: nobody would place what comes out.
  process.stdin.on('end', () => process.exit(1)).on('error', () => process.exit(1)).resume()
  process.stdout.on('error', () => process.exit(1))

  let progress = {}
  const telling = setInterval(() => say({ progress }), TOLD_EVERY_MS)
  const limits = JSON.parse(limitsText) as ExtractionLimits
  const control: JobControl = { signal: new AbortController().signal, progress: (change) => (progress = { ...progress, ...change }) }
  try {
    const archive = await open('/proc/self/fd/3', 'r')
    const extraction = createExtraction(await holdDescriptor(4), limits)
    if (kind === 'zip') await unpackZip(archive, extraction, limits, control)
    else if (kind === 'gz') await unpackGzip(archive, stem, extraction, control)
    else await unpackTar(archive, kind !== 'tar', extraction, control)
    await extraction.finish()
    say({ progress })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    say({ failure: { code: errorCodeOf(error) ?? '', message, isExpected: error instanceof AppError } })
    process.exitCode = 1
  }
  clearInterval(telling)
  process.stdin.destroy()
}

void main(process.argv.slice(2))
