import { lstat, writeFile } from 'node:fs/promises'

/**
 * Marks the copy of an instance as complete. A driver calls it when nobody but the instance changes the copy any more,
 * right before its program starts: what is changed later is the instance's, and is replaced at its next start. Without
 * a mark everything is copied again then, so a failure is ignored.
 * @param marker a file that instances cannot reach; undefined: the instance has no copy
 */
export async function markCopy(marker: string | undefined): Promise<void> {
  if (marker !== undefined) await writeFile(marker, '', { mode: 0o600 }).catch(() => undefined)
}

/**
 * When a copy was marked, by the clock that the kernel writes to files (ctime, in milliseconds since the epoch). 0 if
 * it never was, or if the clock was set back since.
 */
export async function timeOfCopyMarker(marker: string): Promise<number> {
  const at = await lstat(marker).then(
    ({ ctimeMs }) => ctimeMs,
    () => 0,
  )
  return at <= Date.now() + 1 ? at : 0
}
