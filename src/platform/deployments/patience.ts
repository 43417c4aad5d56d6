import type { RuntimeInstance } from '../runtime/runtime'

/** While other instances are to be restarted. In milliseconds. */
const PATIENCE = {
  /** How long a server that has just started may take to answer its first ping. */
  answer: 30_000,
  /** The restart goes on to the next instance when one stays this long without its ready line. */
  ready: 120_000,
}

/**
 * Whether a run had its time for something. After the clock was set back nobody knows how old it is; then it is by how much the clock was, so
 * that the wait ends.
 */
export function isPastPatience(
  { startedAt }: Pick<RuntimeInstance, 'startedAt'>,
  forWhat: keyof typeof PATIENCE,
  now: number,
): boolean {
  return Math.abs(now - startedAt) > PATIENCE[forWhat]
}
