import type { RefObject } from 'react'
import { useEffect, useState } from 'react'

/** Returns how many characters fit in a row. `ruler` must hold RULER as text. */
export function useColumns(lines: RefObject<HTMLElement | null>, ruler: RefObject<HTMLElement | null>) {
  const [columns, setColumns] = useState(FIRST_GUESS)

  useEffect(() => {
    const [box, rule] = [lines.current, ruler.current]
    if (!box || !rule) return
    const observer = new ResizeObserver(() => {
      const character = rule.getBoundingClientRect().width / RULER.length
      const { paddingLeft, paddingRight } = getComputedStyle(box)
      const width = box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
      // The margin compensates for sub-pixel rounding.
      if (character > 0 && width > 0) setColumns(Math.max(1, Math.floor(width / character + 0.02)))
    })
    observer.observe(box)
    observer.observe(rule)
    return () => observer.disconnect()
  }, [lines, ruler])

  return columns
}

export const RULER = '0'.repeat(100)
const FIRST_GUESS = 120
