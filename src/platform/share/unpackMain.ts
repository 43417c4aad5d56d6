import { open } from 'node:fs/promises'
import { performArchiveWork } from './archiveWork'
import { createExtraction, type ExtractionLimits } from './extraction'
import { holdDescriptor } from './jail'
import { unpackGzip, unpackTar } from './unpackTar'
import { unpackZip } from './unpackZip'

export interface UnpackTask {
  kind: string
  /** What the one file of a `.gz` is called. */
  stem: string
  limits: ExtractionLimits
}

/** A process of its own for `.zip`, `.tar` and `.gz`. Descriptor 3 is the archive, 4 the empty directory it is extracted to. */
performArchiveWork<UnpackTask>(async ({ kind, stem, limits }, control) => {
  const archive = await open('/proc/self/fd/3', 'r')
  const extraction = createExtraction(await holdDescriptor(4), limits)
  if (kind === 'zip') await unpackZip(archive, extraction, limits, control)
  else if (kind === 'gz') await unpackGzip(archive, stem, extraction, control)
  else await unpackTar(archive, kind !== 'tar', extraction, control)
  await extraction.finish()
})
