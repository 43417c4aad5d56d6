/** The amount copied so far. */
export interface Progress {
  files: number
  bytes: number
}
