import { useDispatch, useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import { consolesAddress, MAX_CONSOLES } from '../../addresses'
import type { OverviewSection } from '../../api/network'
import { selectionEnded, selectSelected } from './overviewSlice'
import styles from './overview.module.scss'

/** The actions for the selected instances. */
export function SelectionBar({ sections }: { sections: OverviewSection[] }) {
  const selected = useSelector(selectSelected)
  const dispatch = useDispatch()
  if (!selected) return null
  const known = new Set(sections.flatMap(({ instances }) => instances.map(({ uid }) => uid)))
  const uids = selected.filter((uid) => known.has(uid))
  const end = () => dispatch(selectionEnded())
  return (
    <div className={`panel ${styles.selection}`} role="group" aria-label="Selected instances">
      <p role="status">
        {uids.length === 0 ? 'Select two to four instances' : `${uids.length} of at most ${MAX_CONSOLES} selected`}
      </p>
      {uids.length > 1 ? (
        <Link className="btn btn-primary" to={consolesAddress(uids)} onClick={end}>
          Open consoles side by side
        </Link>
      ) : (
        <button type="button" className="btn btn-primary" aria-disabled="true" title="Select at least two instances">
          Open consoles side by side
        </button>
      )}
      <button type="button" className="btn btn-outline-secondary" onClick={end}>
        Cancel
      </button>
    </div>
  )
}
