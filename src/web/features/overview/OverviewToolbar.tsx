import { useDispatch, useSelector } from 'react-redux'
import { SearchField } from '../../ui/SearchField'
import type { Filter, View } from './overviewSlice'
import {
  allCollapsed,
  allExpanded,
  filterChosen,
  FILTERS,
  searched,
  selectCollapsed,
  selectFilter,
  selectionEnded,
  selectionStarted,
  selectQuery,
  selectSelected,
  viewChosen,
  VIEWS,
} from './overviewSlice'
import styles from './overview.module.scss'

const filterNames: Record<Filter, string> = {
  all: 'All',
  online: 'Online',
  attention: 'Needs attention',
  offline: 'Offline',
}
const viewNames: Record<View, string> = { cards: 'Cards', rows: 'Rows', compact: 'Compact' }

type OverviewToolbarProps = {
  /** Names of all deployments. */
  names: string[]
  counts: Record<Filter, number>
  view: View
}

export function OverviewToolbar({ names, counts, view }: OverviewToolbarProps) {
  const query = useSelector(selectQuery)
  const filter = useSelector(selectFilter)
  const collapsed = useSelector(selectCollapsed)
  const dispatch = useDispatch()
  const isSelecting = useSelector(selectSelected) !== null
  const areCollapsed = names.every((name) => collapsed.includes(name))
  return (
    <div className={styles.toolbar}>
      <SearchField label="Search instances" text={query} onChange={(text) => dispatch(searched(text))} />
      <div role="group" aria-label="Filter by state" className={styles.filters}>
        {FILTERS.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === filter}
            onClick={() => dispatch(filterChosen(name))}
          >{`${filterNames[name]} ${counts[name]}`}</button>
        ))}
      </div>
      <div className={styles.display}>
        <button
          type="button"
          className={styles.quiet}
          aria-pressed={isSelecting}
          title="Select instances, to open their consoles side by side"
          onClick={() => dispatch(isSelecting ? selectionEnded() : selectionStarted())}
        >
          Select
        </button>
        <button
          type="button"
          className={styles.quiet}
          onClick={() => dispatch(areCollapsed ? allExpanded() : allCollapsed(names))}
        >
          {areCollapsed ? 'Expand all' : 'Collapse all'}
        </button>
        <div role="group" aria-label="View" className={styles.views}>
          {VIEWS.map((name) => (
            <button key={name} type="button" aria-pressed={name === view} onClick={() => dispatch(viewChosen(name))}>
              {viewNames[name]}
            </button>
          ))}
        </div>
      </div>
    </div>
  )
}
