import { join, relative } from 'node:path'
import { StartError } from '../errors'
import { originalOf } from '../processLock'
import { containedRecords } from './contained/containedRuntime'
import * as contained from './contained/runRecord'
import { readJsonFiles } from './jsonFiles'
import { instancesDirectory } from './local/hostClient'
import * as plain from './local/runRecord'
import type { StoredRun } from './runtime'

/**
 * Requires that the runs recorded in a data directory are its own. A copy of a data directory, such as a backup, names
 * processes of the original one: its platform would stop them, or take them for instances of its own.
 * @throws StartError if the data directory is a copy of another one whose instances still run on this machine
 */
export function requireOwnRuns(dataDir: string): void {
  const original =
    originalWithRuns(dataDir, instancesDirectory(dataDir), plain.isRunning) ??
    originalWithRuns(dataDir, containedRecords(dataDir), contained.isRunning)
  if (original !== undefined)
    throw new StartError([
      `${dataDir} is a copy of ${original}, whose instances still run: stop them with its stop:all, or remove ${join(dataDir, 'runtime')} to start others beside them`,
    ])
}

/** @returns the data directory that the records are copies of, if one of their runs is in progress there */
function originalWithRuns<Stored extends StoredRun>(
  dataDir: string,
  directory: string,
  isRunning: (record: Stored) => boolean,
): string | undefined {
  for (const { storedIn, runId } of readJsonFiles<Stored>(directory)) {
    const original = storedIn === undefined ? undefined : originalOf(directory, storedIn)
    // Its own record is newer: it says whether the run has ended.
    if (original !== undefined && readJsonFiles<Stored>(original).some((run) => run.runId === runId && isRunning(run)))
      return original.slice(0, -relative(dataDir, directory).length - 1)
  }
  return undefined
}
