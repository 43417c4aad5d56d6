import type { Logger } from 'pino'
import { createChanges, type Changes } from './changes/changes'
import { createTextFiles, type TextFiles } from './textFiles'
import { createDownloads, type Downloads } from './transfers/downloads'
import { createZipLists, type ZipLists } from './transfers/zipLists'
import { createEntryLocks, type ReplicaLocks } from './changes/entryLocks'
import type { ExtractionLimits } from './archives/extraction'
import { createKeyedQueue } from '../concurrency/keyedQueue'
import { createJail, type Jail } from './jail'
import { passageOf, type Reach } from './reach'
import { restrictJail } from './restrictedJail'
import { createJobs, type Jobs, type JobSignals } from './transfers/jobs'
import { createListing, type Listing } from './listing/listing'
import { createPacker } from './archives/pack'
import type { ShareLocation } from './shareMarker'
import { openTemporaries } from './changes/temporaries'
import type { TemporaryRecords } from './changes/temporaryRecords'
import { createUnpacker } from './archives/unpack'
import { createUploads, type Upload } from './transfers/uploads'
import { parsePath, parentAndName } from './apiPath'
import { createWriteBack, type WriteBack } from './replicas/writeBack'

interface Stored {
  name: string
  path: string
}

/** The calls under /api/sftp on files. */
export interface FileCalls {
  listing: Pick<Listing, 'list'>
  textFiles: TextFiles
  changes: Changes
  downloads: Downloads
  upload(): Upload
  /** Opens directories with the rights of the caller, for `Upload.store`. */
  jail: Pick<Jail, 'openDirectory'>
  /** Packs one entry into `<name>.tar.gz` beside it. @throws as Packer.pack, Jobs.run */
  archive(userId: number, path: string, signals?: JobSignals): Promise<Stored>
  /** Packs entries of one directory into `archive-<YYYYMMDD-HHmmss>.tar.gz` (local time). @throws as `archive` */
  archiveSeveral(userId: number, paths: string[], signals?: JobSignals): Promise<Stored>
  /** Extracts into a new directory named after the archive. @throws as Unpacker.unpack, Jobs.run */
  unarchive(userId: number, path: string, signals?: JobSignals): Promise<Stored>
}

/** The services behind every call under /api/sftp. All of them share one jail. */
export interface Files extends FileCalls {
  /** The same calls for a caller who may use only a part of the shared area. */
  within(reach: Reach): FileCalls
  jobs: Pick<Jobs, 'of' | 'all' | 'cancel'>
  writeBack: WriteBack
  close(): Promise<void>
}

interface FileParts extends ShareLocation {
  dataDir: string
  log: Logger
  now: () => number
  /** Extraction limits by size of the archive in bytes; overridden by tests. */
  limitsOf?: (archiveSize: number) => ExtractionLimits
  /** Overridden by tests. */
  zipLists?: ZipLists
  /** Directories of deployments that were mounts of their own, as in their definitions. Default: none. */
  mountedDirectories?: () => Promise<string[]>
  /** For a platform with replicas. */
  replica?: { withLocks: ReplicaLocks; temporaries: TemporaryRecords } | undefined
}

/** Also removes unfinished files of an earlier platform process that was killed. */
export async function openFiles({
  dataDir,
  shareDir,
  marker,
  log,
  now,
  limitsOf,
  zipLists = createZipLists(),
  mountedDirectories = async () => [],
  replica,
}: FileParts): Promise<Files> {
  const jail = createJail(shareDir, marker)
  const locks = createEntryLocks(replica?.withLocks)
  const temporaries = await openTemporaries(dataDir, jail, locks, log, replica?.temporaries)
  const listing = createListing(jail)
  const jobs = createJobs()
  /** Saves of the same file run in the order of their requests. */
  const saveQueue = createKeyedQueue()

  function callsIn(within: Jail): Omit<FileCalls, 'listing'> {
    const uploads = createUploads(within, temporaries)
    const packer = createPacker(within, temporaries)
    const unpacker = createUnpacker(within, temporaries, limitsOf)
    return {
      jail: within,
      textFiles: createTextFiles(within, temporaries, saveQueue),
      changes: createChanges(within, locks),
      downloads: createDownloads(within, zipLists),
      upload: () => uploads.begin(),
      async archive(userId, path, signals) {
        const [, name] = parentAndName(parsePath(path))
        return jobs.run(userId, 'archive', [path], (control) => packer.pack([path], `${name}.tar.gz`, control), signals)
      },
      archiveSeveral: (userId, paths, signals) =>
        jobs.run(
          userId,
          'archive',
          paths,
          (control) => packer.pack(paths, `archive-${timestamp(new Date(now()))}.tar.gz`, control),
          signals,
        ),
      unarchive: (userId, path, signals) =>
        jobs.run(userId, 'unarchive', [path], (control) => unpacker.unpack(path, control), signals),
    }
  }

  return {
    listing,
    ...callsIn(jail),
    within(reach) {
      // Undefined: links may lead anywhere.
      const { leadsOn } = reach
      const way = leadsOn && createJail(shareDir, marker, (root) => passageOf(leadsOn, root))
      const part = restrictJail(way ?? jail, reach)
      return {
        ...callsIn(part),
        listing: { list: (path, typeIndex) => listing.list(path, typeIndex, { jail: part, reach }) },
      }
    },
    jobs,
    writeBack: createWriteBack(jail, temporaries, log, mountedDirectories),
    async close() {
      await jobs.close()
      await listing.close()
    },
  }
}

/** `20261120-093005` */
function timestamp(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`
}
