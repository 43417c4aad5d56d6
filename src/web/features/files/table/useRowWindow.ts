import { useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import type { RowHeights } from './useRowHeights'

/** Number of rows rendered beyond the visible ones, for fast scrolling (overscan). */
const OVERSCAN = 8
/** Assumed height in pixels until the first measurement. */
const INITIAL_HEIGHT_PX = 640

/** Computes which rows of a long list to render for the scroll position and the height of the pane and of a row. */
export function useRowWindow(count: number, { row: rowHeight, head: headHeight }: RowHeights) {
  const pane = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(INITIAL_HEIGHT_PX)
  const isShown = count > 0

  // Keeps the first visible row in place when the heights change.
  const keepTop = useEffectEvent(() => {
    if (pane.current) pane.current.scrollTop = top * rowHeight
  })
  useLayoutEffect(() => keepTop(), [rowHeight])

  useLayoutEffect(() => {
    if (!pane.current) return
    const { current } = pane
    const measure = () => {
      if (current.clientHeight > 0) setHeight(current.clientHeight)
      // A shorter list changes the scroll position.
      setTop(Math.floor(current.scrollTop / rowHeight))
    }
    measure()
    let before = current.clientHeight
    const observer = new ResizeObserver(() => {
      const lost = before - current.clientHeight
      before = current.clientHeight
      measure()
      // The selection bar takes room at the bottom, where the row that was selected may be.
      const row = document.activeElement?.closest('[data-path]')
      const hidden = row && current.contains(row) ? bottomOf(row) - bottomOf(current) : 0
      if (hidden > 0 && hidden <= lost) current.scrollTop += hidden
    })
    observer.observe(current)
    return () => observer.disconnect()
  }, [isShown, count, rowHeight])

  const page = Math.max(1, Math.floor((height - headHeight) / rowHeight))
  const first = Math.max(0, Math.min(top, count - page) - OVERSCAN)
  const last = Math.min(count - 1, top + page + OVERSCAN)

  const rows = {
    page,
    onScroll: () => setTop(Math.floor((pane.current?.scrollTop ?? 0) / rowHeight)),
    /** Scrolls the row into view, by the smallest distance. */
    scrollTo(index: number) {
      if (!pane.current) return
      const { scrollTop } = pane.current
      const minScrollTop = (index + 1) * rowHeight - (height - headHeight)
      if (scrollTop > index * rowHeight) pane.current.scrollTop = index * rowHeight
      else if (scrollTop < minScrollTop) pane.current.scrollTop = minScrollTop
      setTop(Math.floor(pane.current.scrollTop / rowHeight))
    },
    /** Indices of the rows to render. `kept` is always among them, because the focused row must stay mounted. */
    rendered(kept: number) {
      const indices = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
      if (kept < first) indices.unshift(kept)
      else if (kept > last && kept < count) indices.push(kept)
      return indices
    },
  }
  return [pane, rows] as const
}

const bottomOf = (element: Element) => element.getBoundingClientRect().bottom
