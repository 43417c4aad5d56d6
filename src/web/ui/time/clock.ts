/** The time that pages show: the current time, or in a replay the time of the recording. */

let read = () => Date.now()
const listeners = new Set<() => void>()

/** Milliseconds since the epoch. */
export const clock = () => read()

/** Replaces the time source. Components that show the time update with each call. */
export function setClock(next: () => number) {
  read = next
  for (const listener of listeners) listener()
}

export function onClockSet(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
