import { useLayoutEffect, useMemo, useReducer, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { LineBuffer } from '../../sockets/lineBuffer'
import { lineAt } from '../../sockets/lineBuffer'
import {
  bottomReached,
  scrolledAway,
  selectAutoScroll,
  selectFound,
  selectPosition,
  selectQuery,
  selectWrap,
} from './instanceSlice'
import { LogRow } from './LogRow'
import { createGeometry, HEIGHT, ROW } from './logGeometry'
import { RULER, useColumns } from './useColumns'
import { useLogSelection } from './useLogSelection'
import './log.scss'

/** So near to the end counts as the end (product §4). In pixels. */
const TOLERANCE = 5
/** Drawn beyond what is seen when the reader moves, so that a quick scroll finds something there. In rows. */
const BEYOND = 15

/** Draws the lines that are seen and no others. The reader's place is a line, so what comes and goes around it moves nothing. */
export function LogWindow({ buffer }: { buffer: LineBuffer }) {
  const wrap = useSelector(selectWrap)
  const autoScroll = useSelector(selectAutoScroll)
  const position = useSelector(selectPosition)
  const query = useSelector(selectQuery)
  const found = useSelector(selectFound)
  const dispatch = useDispatch()

  const pane = useRef<HTMLDivElement>(null)
  const lines = useRef<HTMLDivElement>(null)
  const ruler = useRef<HTMLSpanElement>(null)
  const columns = useColumns(lines, ruler)
  const geometry = useMemo(() => createGeometry(wrap ? columns : Infinity), [wrap, columns])
  const [, remeasured] = useReducer((count: number) => count + 1, 0)

  const rows = geometry.total(buffer)
  const end = Math.max(0, rows * ROW - HEIGHT)
  const top = autoScroll ? end : Math.min(end, Math.max(0, placeOf(position)))
  const shown = useRef(0)

  function placeOf({ line, offset }: typeof position) {
    return line < buffer.first ? 0 : geometry.above(buffer, line) * ROW + offset
  }

  const beyond = autoScroll ? 0 : BEYOND
  const first = geometry.lineAt(buffer, Math.max(0, Math.floor(top / ROW) - beyond))
  const last = geometry.lineAt(buffer, Math.floor((top + HEIGHT) / ROW) + beyond)

  useLayoutEffect(() => {
    if (!pane.current) return
    if (Math.abs(pane.current.scrollTop - top) > 1) pane.current.scrollTop = top
    shown.current = pane.current.scrollTop
  }, [top, rows])

  useLayoutEffect(() => {
    if (!wrap) return
    let isNews = false
    for (const row of lines.current?.querySelectorAll<HTMLElement>('[data-plain="false"]') ?? []) {
      if (geometry.measure(buffer, Number(row.dataset.line), Math.round(row.offsetHeight / ROW))) isNews = true
    }
    if (isNews) remeasured()
  })

  // The line of what was found is drawn; in a long one it may still be out of sight, below or to the side.
  useLayoutEffect(() => {
    const mark = found && pane.current?.querySelector('mark.current')
    if (pane.current && mark) bringIntoView(pane.current, mark)
  }, [found])

  useLogSelection(pane, buffer)

  const onScroll = () => {
    if (!pane.current) return
    const { scrollTop, scrollHeight, clientHeight } = pane.current
    const moved = scrollTop - shown.current
    shown.current = scrollTop
    if (scrollHeight - clientHeight - scrollTop <= TOLERANCE) {
      if (!autoScroll) dispatch(bottomReached())
      return
    }
    const line = geometry.lineAt(buffer, Math.floor(scrollTop / ROW))
    const place = { line, offset: scrollTop - geometry.above(buffer, line) * ROW }
    // Lines that came move the end away from the reader, not the reader from the end.
    if (autoScroll ? moved < -1 : Math.abs(moved) > 0) dispatch(scrolledAway(place))
  }

  const drawn = []
  for (let number = first; number <= last; number++) {
    const line = lineAt(buffer, number)
    if (line)
      drawn.push(
        <LogRow
          key={number}
          line={line}
          number={number}
          query={query}
          current={number === found?.line ? found.at : undefined}
        />,
      )
  }

  return (
    <div
      ref={pane}
      className="log-pane"
      role="log"
      aria-live="off"
      aria-label="Console output"
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard
      tabIndex={0}
      onScroll={onScroll}
    >
      <span ref={ruler} className="log-ruler" aria-hidden="true">
        {RULER}
      </span>
      <div className={wrap ? 'log-lines wrapped' : 'log-lines'} style={{ height: rows * ROW }} ref={lines}>
        <div style={{ transform: `translateY(${geometry.above(buffer, first) * ROW}px)` }}>{drawn}</div>
      </div>
    </div>
  )
}

/** Scrolls the pane, and not the page, as far as it takes. */
function bringIntoView(pane: Element, mark: Element) {
  const [frame, { top, bottom, left, right }] = [pane.getBoundingClientRect(), mark.getBoundingClientRect()]
  const isInRows = top >= frame.top && bottom <= frame.top + pane.clientHeight
  const isInColumns = left >= frame.left && right <= frame.left + pane.clientWidth
  if (!isInRows) pane.scrollTop += (top + bottom) / 2 - frame.top - pane.clientHeight / 2
  if (!isInColumns) pane.scrollLeft += (left + right) / 2 - frame.left - pane.clientWidth / 2
}
