import { printable } from './wirePath'

/**
 * How many levels of directories a walk goes down below its top: each level takes a descriptor or two, and a program of an instance can make
 * any number of them. Archives that go deeper are not extracted. Removal alone has no limit (`removeTree`).
 */
export const DEPTH_LIMIT = 128

/** How much of a path a sentence shows. In characters. */
const SHOWN = 120

/** A path as sentences show it: only its beginning, where it is long. */
export function shortened(path: string): string {
  return printable(path.length > SHOWN ? `${path.slice(0, SHOWN)}…` : path)
}

/** What is wrong with a directory below the limit, and what to do, for people. */
export function tooDeep(path: string): string {
  return `"${shortened(path)}" lies more than ${DEPTH_LIMIT} directories deep. Move it further up, or delete it.`
}
