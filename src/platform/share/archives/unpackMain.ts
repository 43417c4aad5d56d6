import '../../noDebugger'
import { open } from 'node:fs/promises'
import { serveArchiveTask } from './archiveTask'
import type { ArchiveKind } from './archiveFormat'
import { createExtraction, type ExtractionLimits } from './extraction'
import { openInheritedDirectory } from '../jail'
import { unpackGzip, unpackTar } from './unpackTar'
import { unpackZip } from './unpackZip'

export interface UnpackTask {
  kind: ArchiveKind
  /** Name of the single file in a `.gz`. */
  stem: string
  limits: ExtractionLimits
}

/** Child process for `.zip`, `.tar` and `.gz`. Descriptor 3 is the archive, 4 the empty target directory. */
serveArchiveTask<UnpackTask>(async ({ kind, stem, limits }, control) => {
  const archive = await open('/proc/self/fd/3', 'r')
  const extraction = createExtraction(await openInheritedDirectory(4), limits)
  if (kind === 'zip') await unpackZip(archive, extraction, limits, control)
  else if (kind === 'gz') await unpackGzip(archive, stem, extraction, control)
  else await unpackTar(archive, kind !== 'tar', extraction, limits, control)
  await extraction.finish()
})
