import { useLayoutEffect, useRef, useState } from 'react'

/** Heights of a row and of the head in pixels. Also in fileTable.module.scss. */
export const ROW_HEIGHT_PX = 52
export const HEAD_HEIGHT_PX = 41
/** Number of rows rendered beyond the visible ones, for fast scrolling (overscan). */
const OVERSCAN = 8
/** Assumed height in pixels until the first measurement. */
const INITIAL_HEIGHT_PX = 640

/** Computes which rows of a long list to render for the scroll position and the height of the pane. */
export function useRowWindow(count: number) {
  const pane = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(INITIAL_HEIGHT_PX)
  const isShown = count > 0

  useLayoutEffect(() => {
    if (!pane.current) return
    const { current } = pane
    const measure = () => {
      if (current.clientHeight > 0) setHeight(current.clientHeight)
      // A shorter list changes the scroll position.
      setTop(Math.floor(current.scrollTop / ROW_HEIGHT_PX))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [isShown, count])

  const page = Math.max(1, Math.floor((height - HEAD_HEIGHT_PX) / ROW_HEIGHT_PX))
  const first = Math.max(0, Math.min(top, count - page) - OVERSCAN)
  const last = Math.min(count - 1, top + page + OVERSCAN)

  const rows = {
    page,
    onScroll: () => setTop(Math.floor((pane.current?.scrollTop ?? 0) / ROW_HEIGHT_PX)),
    /** Scrolls the row into view, by the smallest distance. */
    scrollTo(index: number) {
      if (!pane.current) return
      const { scrollTop } = pane.current
      const least = (index + 1) * ROW_HEIGHT_PX - (height - HEAD_HEIGHT_PX)
      if (scrollTop > index * ROW_HEIGHT_PX) pane.current.scrollTop = index * ROW_HEIGHT_PX
      else if (scrollTop < least) pane.current.scrollTop = least
      setTop(Math.floor(pane.current.scrollTop / ROW_HEIGHT_PX))
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
