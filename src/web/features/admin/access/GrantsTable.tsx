import { useId, useState } from 'react'
import type { Grant } from '../../../../contract/access'
import { RIGHTS } from '../../../../contract/pageRules'
import { useGetDeploymentsQuery } from '../../../api/deployments'
import { failureDetail } from '../../../failure'
import { counted } from '../../../ui/counted'
import { LoadFailure } from '../../../ui/LoadFailure'
import { EmptyState } from '../../../ui/EmptyState'
import { ListSkeleton } from '../ListSkeleton'
import { SearchField } from '../../../ui/SearchField'
import { GrantRow } from './GrantRow'
import { rights } from './rights'
import styles from './access.module.scss'

/** The number of deployments from which a search is shown. */
const SEARCHED_FROM = 9

/** Deployments × rights. On narrow screens, the rights are below the name of each deployment. */
export function GrantsTable({ grants, onChange }: { grants: Grant[]; onChange: (grants: Grant[]) => void }) {
  const { data, error, isFetching, refetch } = useGetDeploymentsQuery(undefined, { refetchOnMountOrArgChange: true })
  const [search, setSearch] = useState('')
  const id = useId()
  const wanted = search.trim().toLowerCase()
  // A deployment that was deleted since it was chosen has a row as well, with which its rights can be taken away.
  const all = data && new Set([...data.map(({ name }) => name), ...grants.map(({ deployment }) => deployment)])
  const names = all && [...all].sort((a, b) => a.localeCompare(b))
  const shown = names?.filter((name) => name.includes(wanted))

  return (
    <section className={styles.grants} aria-labelledby={id}>
      <div className={styles.grantsHead}>
        <h3 id={id} className="form-label">
          Rights on deployments
        </h3>
        {names && names.length > 0 && (
          <p>
            {grants.length === 0 ? 'None chosen' : `${grants.length} of ${counted(names.length, 'deployment')} chosen`}
          </p>
        )}
        {names && names.length >= SEARCHED_FROM && (
          <SearchField label="Search deployments" text={search} onChange={setSearch} />
        )}
      </div>
      {error && (
        <LoadFailure
          title="Failed to load the deployments"
          as="h3"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {!names && !error && <ListSkeleton label="Loading the deployments" />}
      {names?.length === 0 && <EmptyState>There are no deployments yet</EmptyState>}
      {names && names.length > 0 && shown?.length === 0 && (
        <EmptyState>No deployment matches &quot;{search.trim()}&quot;</EmptyState>
      )}
      {shown && shown.length > 0 && (
        <div className={styles.table}>
          {/* Each checkbox has its own label, which is visible where there are no columns. */}
          <div className={styles.columns} aria-hidden="true">
            <span>Deployment</span>
            <span>All</span>
            {RIGHTS.map((right) => (
              <span key={right} title={rights[right].meaning}>
                {rights[right].name}
              </span>
            ))}
          </div>
          {shown.map((name) => (
            <GrantRow key={name} deployment={name} grants={grants} onChange={onChange} />
          ))}
        </div>
      )}
      <details className={styles.meanings}>
        <summary>What the rights mean</summary>
        <dl>
          {RIGHTS.map((right) => (
            <div key={right}>
              <dt>{rights[right].name}</dt>
              <dd>{rights[right].meaning}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  )
}
