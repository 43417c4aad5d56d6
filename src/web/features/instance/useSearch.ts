import { useDeferredValue, useEffect, useMemo, useReducer } from 'react'
import type { LineBuffer } from '../../sockets/lineBuffer'
import { since } from '../../sockets/lineBuffer'
import { createSearch } from './searchLines'

/** Reading 5,000 long lines takes longer than a key may wait: it goes on in pieces of this length. In milliseconds. */
const PIECE_MS = 6

/** The search for a text in what the reader sees and in what came since, while lines come. */
export function useSearch(shown: LineBuffer, live: LineBuffer, query: string) {
  const search = useMemo(() => createSearch(query), [query])
  // Counting may lag behind lines that pour in; typing may not.
  const known = useDeferredValue(live)
  const isStill = shown !== live
  const lines = useMemo(() => (isStill ? [shown, since(known, shown.next)] : [known]), [isStill, shown, known])
  const [, readOn] = useReducer((pieces: number) => pieces + 1, 0)
  const isComplete = search.read(lines, PIECE_MS)

  useEffect(() => {
    if (isComplete) return
    const timer = setTimeout(readOn)
    return () => clearTimeout(timer)
  })

  return { search, lines, isComplete }
}
