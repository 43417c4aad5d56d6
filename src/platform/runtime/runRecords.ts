import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readJsonFiles, replaceJsonFile } from './jsonFiles'
import type { StoredRun } from './runtime'

/** The last run of each instance on disk, for the next process that owns the instances. */
export interface RunRecords<RunRecord> {
  readonly directory: string
  all(): RunRecord[]
  /** @throws Node.js errors of the file system */
  store(record: RunRecord): void
  /** As `store`, but a record that cannot be stored, as on a full disk, is stored by a later `storeMissing`. */
  save(record: RunRecord): void
  storeMissing(): void
  remove(podName: string): void
}

interface RecordFailures {
  /** Called once until the record is stored. */
  onUnwritable: (podName: string, error: unknown) => void
  /** As of `readJsonFiles`. */
  onUnreadable?: (name: string, error: unknown) => void
}

/** @param directory created if it is missing. @throws Node.js errors of the file system */
export function openRunRecords<RunRecord extends StoredRun & { podName: string }>(
  directory: string,
  { onUnwritable, onUnreadable }: RecordFailures,
): RunRecords<RunRecord> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const fileOf = (podName: string) => join(directory, `${podName}.json`)
  /** Records that could not be stored, by pod name. */
  const missing = new Map<string, RunRecord>()

  function store(record: RunRecord): void {
    replaceJsonFile(fileOf(record.podName), { ...record, storedIn: directory })
    missing.delete(record.podName)
  }

  function save(record: RunRecord): void {
    try {
      store(record)
    } catch (error) {
      if (!missing.has(record.podName)) onUnwritable(record.podName, error)
      missing.set(record.podName, record)
    }
  }

  return {
    directory,
    all: () => readJsonFiles(directory, onUnreadable),
    store,
    save,
    storeMissing() {
      for (const record of missing.values()) save(record)
    },
    remove(podName) {
      missing.delete(podName)
      rmSync(fileOf(podName), { force: true })
    },
  }
}
