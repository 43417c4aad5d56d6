import type { KeyboardEvent, RefObject } from 'react'
import { useEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { LineBuffer } from '../../sockets/lineBuffer'
import type { Occurrence } from './instanceSlice'
import { foundShown, searched, selectAutoScroll, selectFound, selectPosition, selectQuery } from './instanceSlice'
import { aroundLine } from './logGeometry'
import { LogButton } from './LogButton'
import { ToolIcon } from './ToolIcon'
import { useSearch } from './useSearch'

/** `shown` is what the reader looks at, which may be older than `live`; what came since is searched too. */
type LogSearchProps = {
  shown: LineBuffer
  live: LineBuffer
  field: RefObject<HTMLInputElement | null>
  onLeave: () => void
}

export function LogSearch({ shown, live, field, onLeave }: LogSearchProps) {
  const query = useSelector(selectQuery)
  const found = useSelector(selectFound)
  const dispatch = useDispatch()
  const autoScroll = useSelector(selectAutoScroll)
  const { line: top } = useSelector(selectPosition)
  const { search, lines, isComplete } = useSearch(shown, live, query)
  const count = search.count(lines)
  const rank = found && search.rank(lines, found)

  const show = (occurrence: Occurrence | undefined) => {
    if (occurrence) dispatch(foundShown({ occurrence, position: aroundLine(occurrence.line) }))
  }
  const newer = () => show(search.newer(lines, found))
  const older = () => show(search.older(lines, found))

  // Once for each text that is typed: lines that come later lead nobody away.
  const sought = useRef(query)
  useEffect(() => {
    if (!isComplete || sought.current === query) return
    sought.current = query
    show(autoScroll ? search.upFrom(lines, shown.next - 1) : search.downFrom(lines, top))
  })

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault()
      if (event.shiftKey) newer()
      else older()
    } else if (event.key === 'Escape') {
      dispatch(searched(''))
      onLeave()
    }
  }

  return (
    <div className="log-search" role="search">
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
      <span className="log-count" role="status">
        {query !== '' && countText(rank ?? undefined, count, isComplete)}
      </span>
      <LogButton label="Previous match" disabled={count === 0} onClick={older}>
        <ToolIcon name="up" />
      </LogButton>
      <LogButton label="Next match" disabled={count === 0} onClick={newer}>
        <ToolIcon name="down" />
      </LogButton>
    </div>
  )
}

/** While lines are still to be read, what was found by then. */
function countText(rank: number | undefined, count: number, isComplete: boolean) {
  if (count === 0) return isComplete ? 'No match' : 'Searching…'
  return `${rank?.toLocaleString('en') ?? '–'} of ${count.toLocaleString('en')}${isComplete ? '' : '…'}`
}
