import { useSyncExternalStore } from 'react'
import { useSelector } from 'react-redux'
import { selectDensity } from '../filesSlice'
import type { Density } from './density'

const ROW_HEIGHTS_PX: Record<Density, number> = { comfortable: 40, compact: 32 }
/** For fingers, and for two lines. */
const TALL_ROW_HEIGHT_PX = 48

/** A touch screen, or a window where size and time stand below the name (48rem in fileTable.module.scss). */
const TALL = '(pointer: coarse), (max-width: 48rem)'

function subscribe(listener: () => void) {
  const query = window.matchMedia(TALL)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** Returns the height of a row of the table in pixels. */
export function useRowHeight(): number {
  const density = useSelector(selectDensity)
  const isTall = useSyncExternalStore(subscribe, () => window.matchMedia(TALL).matches)
  return isTall ? TALL_ROW_HEIGHT_PX : ROW_HEIGHTS_PX[density]
}
