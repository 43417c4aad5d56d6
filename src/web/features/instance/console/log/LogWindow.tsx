import type { Ref, RefObject } from 'react'
import { useImperativeHandle, useLayoutEffect, useMemo, useReducer, useRef } from 'react'
import { usePaneDispatch, usePaneSelector } from '../pane'
import type { LineBuffer } from '../../../../sockets/lineBuffer'
import { lineAt } from '../../../../sockets/lineBuffer'
import {
  bottomReached,
  scrolledAway,
  selectAutoScroll,
  selectCurrentMatch,
  selectPosition,
  selectQuery,
  selectWrap,
} from '../../instanceSlice'
import { LogRow } from './LogRow'
import { createGeometry, ROW_HEIGHT_PX } from './logGeometry'
import { RULER, useLogSize } from './useLogSize'
import { useLogSelection } from './useLogSelection'
import '../../../../styles/monospace.scss'
import styles from './log.module.scss'

/** Distance from the end, in pixels, that still counts as the end (product §4). */
const TOLERANCE = 5
/** Number of rows rendered beyond the visible ones while scrolled up (overscan). */
const OVERSCAN = 15

/** Renders only the visible lines. The scroll position is a line, so that changes elsewhere do not move it. */
export function LogWindow({ buffer, ref }: { buffer: LineBuffer; ref: Ref<HTMLDivElement> }) {
  const wrap = usePaneSelector(selectWrap)
  const autoScroll = usePaneSelector(selectAutoScroll)
  const position = usePaneSelector(selectPosition)
  const query = usePaneSelector(selectQuery)
  const currentMatch = usePaneSelector(selectCurrentMatch)
  const dispatch = usePaneDispatch()

  const pane = useRef<HTMLDivElement>(null)
  useImperativeHandle(ref, () => pane.current as HTMLDivElement, [])
  const lines = useRef<HTMLDivElement>(null)
  const ruler = useRef<HTMLSpanElement>(null)
  const { columns, height } = useLogSize({ pane, lines, ruler })
  const geometry = useMemo(() => createGeometry(wrap ? columns : Infinity), [wrap, columns])

  const rows = geometry.total(buffer)
  const end = Math.max(0, rows * ROW_HEIGHT_PX - height)
  const top = autoScroll ? end : Math.min(end, Math.max(0, scrollTopOf(position)))
  const shown = useRef(0)

  function scrollTopOf({ line, offset }: typeof position) {
    return line < buffer.first ? 0 : geometry.above(buffer, line) * ROW_HEIGHT_PX + offset
  }

  const overscan = autoScroll ? 0 : OVERSCAN
  const first = geometry.lineAt(buffer, Math.max(0, Math.floor(top / ROW_HEIGHT_PX) - overscan))
  const last = geometry.lineAt(buffer, Math.floor((top + height) / ROW_HEIGHT_PX) + overscan)

  useLayoutEffect(() => {
    if (!pane.current) return
    if (Math.abs(pane.current.scrollTop - top) > 1) pane.current.scrollTop = top
    shown.current = pane.current.scrollTop
  }, [top, rows])

  useMeasuredRows(lines, geometry, buffer, wrap)

  // The line of the current match is rendered, but in a long line the match itself may still be out of view.
  useLayoutEffect(() => {
    const mark = currentMatch && pane.current?.querySelector(`mark.${styles.current}`)
    if (pane.current && mark) bringIntoView(pane.current, mark)
  }, [currentMatch])

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
    const line = geometry.lineAt(buffer, Math.floor(scrollTop / ROW_HEIGHT_PX))
    const place = { line, offset: scrollTop - geometry.above(buffer, line) * ROW_HEIGHT_PX }
    // New lines move the end away without the reader scrolling.
    if (autoScroll ? moved < -1 : Math.abs(moved) > 0) dispatch(scrolledAway(place))
  }

  const rendered = []
  for (let number = first; number <= last; number++) {
    const line = lineAt(buffer, number)
    if (line)
      rendered.push(
        <LogRow
          key={number}
          line={line}
          number={number}
          query={query}
          current={number === currentMatch?.line ? currentMatch.at : undefined}
        />,
      )
  }

  return (
    <div
      ref={pane}
      className={styles.pane}
      role="log"
      aria-live="off"
      aria-label="Console output"
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard must reach a scrollable element
      tabIndex={0}
      onScroll={onScroll}
    >
      <span ref={ruler} className={styles.ruler} aria-hidden="true">
        {RULER}
      </span>
      <div
        className={wrap ? `${styles.lines} ${styles.wrapped}` : styles.lines}
        style={{ height: rows * ROW_HEIGHT_PX }}
        ref={lines}
      >
        <div style={{ transform: `translateY(${geometry.above(buffer, first) * ROW_HEIGHT_PX}px)` }}>{rendered}</div>
      </div>
    </div>
  )
}

/** Measures the rendered lines that wrap, and renders again if a height differs from the estimate. */
function useMeasuredRows(
  lines: RefObject<HTMLElement | null>,
  geometry: ReturnType<typeof createGeometry>,
  buffer: LineBuffer,
  wrap: boolean,
) {
  const [, remeasured] = useReducer((count: number) => count + 1, 0)
  useLayoutEffect(() => {
    if (!wrap) return
    let hasChanged = false
    for (const row of lines.current?.querySelectorAll<HTMLElement>('[data-plain="false"]') ?? []) {
      if (geometry.measure(buffer, Number(row.dataset.line), Math.round(row.offsetHeight / ROW_HEIGHT_PX)))
        hasChanged = true
    }
    if (hasChanged) remeasured()
  })
}

/** Scrolls the pane, but not the page. */
function bringIntoView(pane: Element, mark: Element) {
  const [frame, { top, bottom, left, right }] = [pane.getBoundingClientRect(), mark.getBoundingClientRect()]
  const isInRows = top >= frame.top && bottom <= frame.top + pane.clientHeight
  const isInColumns = left >= frame.left && right <= frame.left + pane.clientWidth
  if (!isInRows) pane.scrollTop += (top + bottom) / 2 - frame.top - pane.clientHeight / 2
  if (!isInColumns) pane.scrollLeft += (left + right) / 2 - frame.left - pane.clientWidth / 2
}
