/** Console lines about the files of `keep`, the same for every runtime (decisions §13). */

export const NOT_ORDERLY =
  '[System] The files of "keep" were not written back: that happens only after an orderly stop.'

export const CANCELLED = '[System] The files of "keep" were not written back: this was cancelled.'

/** @param files the number of files, at least 1 */
export function writtenBack(files: number): string {
  return `[System] ${files === 1 ? 'A file' : `${files} files`} of "keep" ${files === 1 ? 'was' : 'were'} written back.`
}

/** @param names the files that were left out */
export function notWrittenBack(names: string): string {
  return `[System] Not written back: ${names}`
}

/** Without the mark of the platform's lines, because lists show it as well. @param problem as a sentence */
export function writeBackFailed(problem: string): string {
  return `The files of "keep" could not be written back. ${problem} This is retried; Kill cancels it.`
}
