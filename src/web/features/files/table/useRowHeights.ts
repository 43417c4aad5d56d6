import { useSyncExternalStore } from 'react'
import { useSelector } from 'react-redux'
import { selectDensity, type Density } from '../filesSlice'

const ROW_HEIGHTS_PX: Record<Density, number> = { comfortable: 40, compact: 32 }
const HEAD_HEIGHT_PX = 37
/** For touch screens, and for rows of two lines. */
const TALL_ROW_HEIGHT_PX = 48
const TALL_HEAD_HEIGHT_PX = 45

/** A touch screen, or a window where size and time stand below the name (47.99rem in fileTable.module.scss). */
const TALL = '(pointer: coarse), (width < 48rem)'

function subscribe(listener: () => void) {
  const query = window.matchMedia(TALL)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** In pixels. */
export type RowHeights = { row: number; head: number }

/** The heights of the rows of the table, for its style sheet and for the computation of the visible rows. */
export function useRowHeights(): RowHeights {
  const density = useSelector(selectDensity)
  const isTall = useSyncExternalStore(subscribe, () => window.matchMedia(TALL).matches)
  return isTall
    ? { row: TALL_ROW_HEIGHT_PX, head: TALL_HEAD_HEIGHT_PX }
    : { row: ROW_HEIGHTS_PX[density], head: HEAD_HEIGHT_PX }
}
