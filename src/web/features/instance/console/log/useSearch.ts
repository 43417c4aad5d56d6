import { useDeferredValue, useEffect, useMemo, useReducer } from 'react'
import type { LineBuffer } from '../../../../sockets/lineBuffer'
import { since } from '../../../../sockets/lineBuffer'
import { createSearch } from './searchLines'

/** Time slice of indexing: 5,000 long lines take longer than a keystroke may be delayed. */
const TIME_SLICE_MS = 6

/** Searches the displayed lines, and newer ones as they arrive. */
export function useSearch(shown: LineBuffer, live: LineBuffer, query: string) {
  const search = useMemo(() => createSearch(query), [query])
  // Deferred: counting may lag behind a burst of lines, but typing must not.
  const known = useDeferredValue(live)
  const isFrozen = shown !== live
  const lines = useMemo(() => (isFrozen ? [shown, since(known, shown.next)] : [known]), [isFrozen, shown, known])
  const [, continueIndexing] = useReducer((pieces: number) => pieces + 1, 0)
  const isComplete = search.index(lines, TIME_SLICE_MS)

  useEffect(() => {
    if (isComplete) return
    const timer = setTimeout(continueIndexing)
    return () => clearTimeout(timer)
  })

  return { search, lines, isComplete }
}
