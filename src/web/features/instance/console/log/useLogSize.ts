import type { RefObject } from 'react'
import { useEffect, useState } from 'react'
import { LOG_HEIGHT_PX } from './logGeometry'

type LogElements = {
  /** The element that scrolls. */
  pane: RefObject<HTMLElement | null>
  /** The element as wide as the lines. */
  lines: RefObject<HTMLElement | null>
  /** The element that contains RULER. */
  ruler: RefObject<HTMLElement | null>
}

/**
 * Returns how many characters fit in a row, and the height of the log in pixels. The ruler is measured again when its
 * font has been loaded, because its width changes with the font.
 */
export function useLogSize({ pane, lines, ruler }: LogElements) {
  const [columns, setColumns] = useState(FIRST_GUESS)
  const [height, setHeight] = useState(LOG_HEIGHT_PX)

  useEffect(() => {
    const [frame, box, rule] = [pane.current, lines.current, ruler.current]
    if (!frame || !box || !rule) return
    const observer = new ResizeObserver(() => {
      const character = rule.getBoundingClientRect().width / RULER.length
      const { paddingLeft, paddingRight } = getComputedStyle(box)
      const width = box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
      // The margin compensates for sub-pixel rounding.
      if (character > 0 && width > 0) setColumns(Math.max(1, Math.floor(width / character + 0.02)))
      if (frame.clientHeight > 0) setHeight(frame.clientHeight)
    })
    for (const element of [frame, box, rule]) observer.observe(element)
    return () => observer.disconnect()
  }, [pane, lines, ruler])

  return { columns, height }
}

export const RULER = '0'.repeat(100)
const FIRST_GUESS = 120
