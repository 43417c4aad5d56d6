import { useDeferredValue, useMemo } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { OverviewSection } from '../../api/network'
import { EmptyState } from '../../ui/EmptyState'
import { findInstances } from './warnings/attention'
import { DeploymentSection } from './DeploymentSection'
import type { View } from './overviewSlice'
import { filtersCleared, selectCollapsed, selectCpuSamples, selectFilter, selectQuery } from './overviewSlice'
import styles from './groups.module.scss'

/** The deployments that match the filters. Deferred, because typing must not wait for a thousand rows. */
export function DeploymentList({ sections, view }: { sections: OverviewSection[]; view: View }) {
  const shownSections = useDeferredValue(sections)
  const filter = useDeferredValue(useSelector(selectFilter))
  const query = useDeferredValue(useSelector(selectQuery))
  const cpu = useDeferredValue(useSelector(selectCpuSamples))
  const collapsed = useSelector(selectCollapsed)
  const dispatch = useDispatch()
  const isSearched = query.trim() !== ''
  const found = useMemo(
    () =>
      shownSections.flatMap((section) => {
        const shown = findInstances(section, filter, query)
        return shown ? [{ section, shown }] : []
      }),
    [shownSections, filter, query],
  )
  if (found.length === 0)
    return (
      <EmptyState
        action={
          <button type="button" className="btn btn-outline-secondary" onClick={() => dispatch(filtersCleared())}>
            Show all instances
          </button>
        }
      >
        No instances match
      </EmptyState>
    )
  return (
    <div className={view === 'cards' ? styles.cards : `${styles.table} ${styles[view]} panel`}>
      {view !== 'cards' && (
        <div className={styles.columns} aria-hidden="true">
          <span>State</span>
          <span>Instance</span>
          <span>Players</span>
          <span>CPU</span>
          <span>Memory</span>
          <span>Uptime</span>
        </div>
      )}
      {found.map(({ section, shown }) => (
        <DeploymentSection
          key={section.deployment.name}
          section={section}
          shown={shown}
          view={view}
          isCollapsed={!isSearched && collapsed.includes(section.deployment.name)}
          isSearched={isSearched}
          cpu={cpu}
        />
      ))}
    </div>
  )
}
