import type { Logger } from 'pino'
import { createChanges, type Changes } from './changes'
import { createContents, type Contents } from './content'
import { createDownloads, type Downloads } from './downloads'
import { createEntryTurns } from './entryTurns'
import type { ExtractionLimits } from './extraction'
import { createJail } from './jail'
import { createJobs, type Jobs } from './jobs'
import { createListing, type Listing } from './listing'
import { createListingPool } from './listingPool'
import { createPacker } from './pack'
import type { ShareParts } from './shareMarker'
import { openTemporaries } from './temporaries'
import { createUnpacker } from './unpack'
import { createUploads, type Upload } from './uploads'
import { namesOf, parentAndName } from './wirePath'
import { createWriteBack, type WriteBack } from './writeBack'

interface Stored {
  name: string
  path: string
}

/** The shared area, for every call under /api/sftp. All of it goes through one jail. */
export interface Files {
  listing: Pick<Listing, 'list'>
  contents: Contents
  changes: Changes
  downloads: Downloads
  jobs: Pick<Jobs, 'of' | 'cancel' | 'endOf'>
  upload(): Upload
  /** One entry as `<name>.tar.gz` beside it. `hungUp` as in Jobs.run, here and below. @throws as Packer.pack, Jobs.run */
  archive(userId: number, path: string, hungUp?: AbortSignal): Promise<Stored>
  /** Several of one directory as `archive-<YYYYMMDD-HHmmss>.tar.gz` (local time). @throws as Packer.pack, Jobs.run */
  archiveSeveral(userId: number, paths: string[], hungUp?: AbortSignal): Promise<Stored>
  /** Into a new directory named after the archive. @throws as Unpacker.unpack, Jobs.run */
  unarchive(userId: number, path: string, hungUp?: AbortSignal): Promise<Stored>
  /** What an instance wrote in its copy, back to its deployment's directory. */
  writeBack: WriteBack
  close(): Promise<void>
}

interface FileParts extends ShareParts {
  dataDir: string
  log: Logger
  now: () => number
  /** What an archive of so many bytes may become; for tests. */
  limitsOf?: (archiveSize: number) => ExtractionLimits
}

/** Also removes what a killed platform left unfinished in the shared area. */
export async function openFiles({ dataDir, shareDir, marker, log, now, limitsOf }: FileParts): Promise<Files> {
  const jail = createJail(shareDir, marker)
  const turns = createEntryTurns()
  const temporaries = await openTemporaries(dataDir, jail, turns, log)
  const listing = createListing(jail, createListingPool())
  const uploads = createUploads(jail, temporaries)
  const packer = createPacker(jail, temporaries)
  const unpacker = createUnpacker(jail, temporaries, limitsOf)
  const jobs = createJobs()
  return {
    listing,
    contents: createContents(jail, temporaries),
    changes: createChanges(jail, turns),
    downloads: createDownloads(jail),
    jobs,
    upload: () => uploads.begin(),
    async archive(userId, path, hungUp) {
      const [, name] = parentAndName(namesOf(path))
      return jobs.run(userId, 'archive', [path], (control) => packer.pack([path], `${name}.tar.gz`, control), hungUp)
    },
    archiveSeveral: (userId, paths, hungUp) =>
      jobs.run(
        userId,
        'archive',
        paths,
        (control) => packer.pack(paths, `archive-${stamp(new Date(now()))}.tar.gz`, control),
        hungUp,
      ),
    unarchive: (userId, path, hungUp) =>
      jobs.run(userId, 'unarchive', [path], (control) => unpacker.unpack(path, control), hungUp),
    writeBack: createWriteBack(jail, temporaries, log),
    async close() {
      await jobs.close()
      await listing.close()
    },
  }
}

/** `20261120-093005` */
function stamp(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`
}
