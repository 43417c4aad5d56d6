import { useLayoutEffect, useRef, useState } from 'react'

/** Of one row, and of the head above them; also in fileTable.scss. In pixels. */
export const ROW = 52
export const HEAD = 41
/** Drawn beyond what is seen, so that a quick scroll finds something there. In rows. */
const BEYOND = 8
/** Until the browser has said. In pixels. */
const HEIGHT = 640

/** Which rows of a long list are to be drawn, as the pane scrolls and changes its height. */
export function useRowWindow(count: number) {
  const pane = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(HEIGHT)
  const isShown = count > 0

  useLayoutEffect(() => {
    if (!pane.current) return
    const { current } = pane
    const measure = () => {
      if (current.clientHeight > 0) setHeight(current.clientHeight)
      // A shorter list has pulled it up.
      setTop(Math.floor(current.scrollTop / ROW))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [isShown, count])

  const page = Math.max(1, Math.floor((height - HEAD) / ROW))
  const first = Math.max(0, Math.min(top, count - page) - BEYOND)
  const last = Math.min(count - 1, top + page + BEYOND)

  const rows = {
    page,
    onScroll: () => setTop(Math.floor((pane.current?.scrollTop ?? 0) / ROW)),
    /** Scrolls as little as it takes. */
    show(index: number) {
      if (!pane.current) return
      const { scrollTop } = pane.current
      const least = (index + 1) * ROW - (height - HEAD)
      if (scrollTop > index * ROW) pane.current.scrollTop = index * ROW
      else if (scrollTop < least) pane.current.scrollTop = least
      setTop(Math.floor(pane.current.scrollTop / ROW))
    },
    /** `kept` is drawn wherever it is: what has the focus must not vanish. */
    drawn(kept: number) {
      const indices = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
      if (kept < first) indices.unshift(kept)
      else if (kept > last && kept < count) indices.push(kept)
      return indices
    },
  }
  return [pane, rows] as const
}
