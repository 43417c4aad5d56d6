/** The time that pages show and reckon with: this moment's, or in a replay the recording's. */

let read = () => Date.now()
const listeners = new Set<() => void>()

/** Milliseconds since the epoch. */
export const clock = () => read()

/** From now on it is what `next` says. Who shows the time hears of it with each call. */
export function setClock(next: () => number) {
  read = next
  for (const listener of listeners) listener()
}

export function onClockSet(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
