import type { KeyboardEvent, RefObject } from 'react'
import { useDeferredValue, useMemo } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { LineBuffer } from '../../sockets/lineBuffer'
import { foundShown, searched, selectFound, selectQuery } from './instanceSlice'
import { aroundLine } from './logGeometry'
import { LogButton } from './LogButton'
import { createSearch } from './searchLines'
import { ToolIcon } from './ToolIcon'

type LogSearchProps = { buffer: LineBuffer; field: RefObject<HTMLInputElement | null>; onLeave: () => void }

export function LogSearch({ buffer, field, onLeave }: LogSearchProps) {
  const query = useSelector(selectQuery)
  const found = useSelector(selectFound)
  const dispatch = useDispatch()
  const search = useMemo(() => createSearch(query), [query])
  // Counting may lag behind lines that pour in; typing may not.
  const numbers = search(useDeferredValue(buffer))
  const at = found === null ? -1 : numbers.indexOf(found)

  const show = (line: number | undefined) => {
    if (line !== undefined) dispatch(foundShown({ line, position: aroundLine(line) }))
  }
  // The first step goes to the newest.
  const newer = () => show(numbers.find((number) => found !== null && number > found) ?? (found === null ? numbers.at(-1) : numbers[0]))
  const older = () => show(numbers.findLast((number) => found !== null && number < found) ?? numbers.at(-1))

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
        {query !== '' && (numbers.length === 0 ? 'No match' : `${at === -1 ? '–' : at + 1} of ${numbers.length}`)}
      </span>
      <LogButton label="Previous match" disabled={numbers.length === 0} onClick={older}>
        <ToolIcon name="up" />
      </LogButton>
      <LogButton label="Next match" disabled={numbers.length === 0} onClick={newer}>
        <ToolIcon name="down" />
      </LogButton>
    </div>
  )
}
