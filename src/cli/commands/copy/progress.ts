/** What was copied so far. */
export interface Progress {
  files: number
  bytes: number
}
