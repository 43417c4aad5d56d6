/** Console lines about the files of `keep`, the same for every runtime (decisions §13). */

export const NOT_ORDERLY =
  '[System] The files of "keep" were not written back: that happens only after an orderly stop.'

export const CANCELLED = '[System] The files of "keep" were not written back: this was cancelled.'

/** @param files the number of files, at least 1 */
export function writtenBack(files: number): string {
  return `[System] ${files === 1 ? 'A file' : `${files} files`} of "keep" ${files === 1 ? 'was' : 'were'} written back.`
}

/** @param exceptions what was left out or written under another name, in sentences */
export function writtenBackExcept(exceptions: string): string {
  return `[System] Some files of "keep" were not written back as they are: ${exceptions}`
}

/** Without the mark of the platform's lines, because lists show it as well. @param problem as a sentence */
export function writeBackFailed(problem: string): string {
  return `The files of "keep" could not be written back. ${problem} This is retried; Kill cancels it.`
}
