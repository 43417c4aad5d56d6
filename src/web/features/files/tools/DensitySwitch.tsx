import { useDispatch, useSelector } from 'react-redux'
import { Glyph } from '../../../ui/Glyph'
import { DENSITIES, densityChosen, selectDensity, type Density } from '../filesSlice'
import styles from './fileTools.module.scss'

const appearances: Record<Density, { title: string; path: string }> = {
  comfortable: { title: 'Comfortable', path: 'M4 5h16v5.5H4zM4 13.5h16V19H4z' },
  compact: { title: 'Compact', path: 'M4 5h16M4 9.7h16M4 14.3h16M4 19h16' },
}

/** Hidden where both densities have the same row height (useRowHeights.ts). */
export function DensitySwitch() {
  const density = useSelector(selectDensity)
  const dispatch = useDispatch()
  return (
    <div className={styles.density} role="group" aria-label="Density">
      {DENSITIES.map((key) => (
        <button
          key={key}
          type="button"
          aria-label={appearances[key].title}
          title={appearances[key].title}
          aria-pressed={key === density}
          onClick={() => dispatch(densityChosen(key))}
        >
          <Glyph path={appearances[key].path} size={18} />
        </button>
      ))}
    </div>
  )
}
