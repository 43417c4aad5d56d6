import type { KeyboardEvent, RefObject } from 'react'
import { useEffect, useRef } from 'react'
import { usePaneDispatch, usePaneSelector } from '../pane'
import type { LineBuffer } from '../../../../sockets/lineBuffer'
import type { Match } from '../../instanceSlice'
import {
  matchShown,
  searched,
  selectAutoScroll,
  selectCurrentMatch,
  selectPosition,
  selectQuery,
} from '../../instanceSlice'
import { aroundLine, heightOf } from './logGeometry'
import { LogButton } from './LogButton'
import { ToolIcon } from './ToolIcon'
import { useSearch } from './useSearch'
import styles from '../console.module.scss'

/** `shown` holds the displayed lines, which may be older than `live`. Newer lines are searched too. */
type LogSearchProps = {
  /** Name of the console. */
  label: string
  shown: LineBuffer
  live: LineBuffer
  field: RefObject<HTMLInputElement | null>
  pane: RefObject<HTMLElement | null>
  onLeave: () => void
}

export function LogSearch({ label, shown, live, field, pane, onLeave }: LogSearchProps) {
  const query = usePaneSelector(selectQuery)
  const currentMatch = usePaneSelector(selectCurrentMatch)
  const dispatch = usePaneDispatch()
  const autoScroll = usePaneSelector(selectAutoScroll)
  const { line: top } = usePaneSelector(selectPosition)
  const { search, lines, isComplete } = useSearch(shown, live, query)
  const count = search.count(lines)
  const matchNumber = currentMatch && search.matchNumber(lines, currentMatch)

  const show = (occurrence: Match | undefined) => {
    if (occurrence) dispatch(matchShown({ occurrence, position: aroundLine(occurrence.line, heightOf(pane.current)) }))
  }
  const showNext = () => show(search.next(lines, currentMatch))
  const showPrevious = () => show(search.previous(lines, currentMatch))

  // Runs once per query, after all lines are indexed, because later lines must not move the view.
  const searchedQuery = useRef(query)
  useEffect(() => {
    if (!isComplete || searchedQuery.current === query) return
    searchedQuery.current = query
    show(autoScroll ? search.lastUpTo(lines, shown.next - 1) : search.nearestFrom(lines, top))
  })

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') {
      event.preventDefault()
      if (event.shiftKey) showNext()
      else showPrevious()
    } else if (event.key === 'Escape') {
      dispatch(searched(''))
      onLeave()
    }
  }

  return (
    <div className={styles.logSearch} role="search" aria-label={label}>
      <ToolIcon name="search" />
      <input
        ref={field}
        type="text"
        aria-label="Search the console"
        placeholder="Search"
        value={query}
        onChange={(event) => dispatch(searched(event.target.value))}
        onKeyDown={onKeyDown}
      />
      <span className={styles.logCount} role="status">
        {query !== '' && countText(matchNumber ?? undefined, count, isComplete)}
      </span>
      <LogButton label="Previous match" disabled={count === 0} onClick={showPrevious}>
        <ToolIcon name="up" />
      </LogButton>
      <LogButton label="Next match" disabled={count === 0} onClick={showNext}>
        <ToolIcon name="down" />
      </LogButton>
    </div>
  )
}

/** While lines are still being indexed, shows the matches found so far. */
function countText(matchNumber: number | undefined, count: number, isComplete: boolean) {
  if (count === 0) return isComplete ? 'No match' : 'Searching…'
  return `${matchNumber?.toLocaleString('en') ?? '–'} of ${count.toLocaleString('en')}${isComplete ? '' : '…'}`
}
