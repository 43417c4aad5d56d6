import { printable } from './apiPath'

/**
 * Deepest level that a walk descends to. Each level costs up to three descriptors, and an instance can create any
 * number of levels. Deeper archives are not extracted. Only removal has no limit (`removeTree`).
 */
export const DEPTH_LIMIT = 128

/** Characters of a path that a message shows. */
const MAX_SHOWN_LENGTH = 120

/** A path for messages, truncated when it is long. */
export function truncatedPath(path: string): string {
  return printable(path.length > MAX_SHOWN_LENGTH ? `${path.slice(0, MAX_SHOWN_LENGTH)}…` : path)
}

/** Error text for a directory below the limit. */
export function tooDeepMessage(path: string): string {
  return `"${truncatedPath(path)}" is more than ${DEPTH_LIMIT} directories deep. Move it up, or delete it.`
}
