import { memo, useId } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { Instance } from '../../../contract/instance'
import { useRestartDeploymentMutation } from '../../api/deployments'
import type { OverviewSection } from '../../api/network'
import { failureText } from '../../failure'
import { counted } from '../../ui/counted'
import { ErrorBoundary } from '../../ui/ErrorBoundary'
import { Icon } from '../../ui/Icon'
import { concernOf } from './warnings/attention'
import { DeploymentMenu } from './DeploymentMenu'
import { InstanceCheckbox } from './instances/InstanceCheckbox'
import { InstanceLink } from './instances/InstanceLink'
import type { OverviewState, View } from './overviewSlice'
import { sectionToggled, selectSelected } from './overviewSlice'
import { countPlayers } from './totals'
import styles from './groups.module.scss'
import linkStyles from './instances/instanceLink.module.scss'
import listStyles from './instances/instanceList.module.scss'

type DeploymentSectionProps = {
  section: OverviewSection
  /** The instances that match the filters. */
  shown: Instance[]
  view: View
  isCollapsed: boolean
  /** Whether a search is active, which expands all matching groups. */
  isSearched: boolean
  cpu: OverviewState['cpu']
}

/** One deployment with its instances. A collapsed one renders none of them. */
export const DeploymentSection = memo(function DeploymentSection({
  section: { deployment, instances, failure },
  shown,
  view,
  isCollapsed,
  isSearched,
  cpu,
}: DeploymentSectionProps) {
  const { name, enabled, description } = deployment
  const isSelecting = useSelector(selectSelected) !== null
  const dispatch = useDispatch()
  const id = useId()
  const isCards = view === 'cards'

  return (
    <section className={styles.group} aria-labelledby={`${id}-title`}>
      <div className={styles.head}>
        <h2 id={`${id}-title`}>
          <button
            type="button"
            aria-expanded={!isCollapsed}
            aria-controls={isCollapsed ? undefined : `${id}-instances`}
            aria-disabled={isSearched || undefined}
            title={isSearched ? 'Deployments stay expanded during a search' : undefined}
            onClick={() => !isSearched && dispatch(sectionToggled(name))}
          >
            <Icon name="chevron" size={16} />
            <span className={styles.name}>{name}</span>
            <span className={styles.count}>{failure ? 'unknown' : countText(shown.length, instances.length)}</span>
            {!enabled && <span className={styles.disabled}>disabled</span>}
            {/* Every instance has the description of its deployment. */}
            {description && instances.length === 0 && <span className={styles.description}>{description}</span>}
          </button>
        </h2>
        <Aside name={name} instances={instances} />
        <DeploymentMenu deployment={deployment} instances={instances} />
      </div>
      {!isCollapsed && (
        <div id={`${id}-instances`}>
          {failure && (
            <p className={`${styles.note} ${styles.failed}`} role="alert">
              {failureText(failure, 'Failed to fetch network data')}
              {instances.length > 0 && <span className="failure-hint">Showing the last known state.</span>}
            </p>
          )}
          {!failure && instances.length === 0 && <p className={styles.note}>No instances currently running</p>}
          {shown.length > 0 && (
            <ul className={isCards ? listStyles.cards : rowsClass(shown.length)}>
              {shown.map((instance) => (
                <li key={instance.uid} className={isSelecting ? listStyles.selectable : undefined}>
                  {isSelecting && <InstanceCheckbox instance={instance} />}
                  <ErrorBoundary
                    resetKey={instance.state}
                    fallback={(error) => (
                      <BrokenInstance name={instance.name} message={error.message} isCard={isCards} />
                    )}
                  >
                    <InstanceLink
                      deployment={name}
                      instance={instance}
                      isCard={isCards}
                      samples={isCards ? undefined : cpu[instance.uid]}
                    />
                  </ErrorBoundary>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </section>
  )
})

/** Number of rows from which the browser skips those that are out of view. */
const MANY = 50

const rowsClass = (count: number) => (count >= MANY ? `${listStyles.rows} ${listStyles.many}` : listStyles.rows)

const countText = (shown: number, all: number) =>
  shown === all ? counted(all, 'instance') : `${shown} of ${counted(all, 'instance')}`

/** A summary for a collapsed deployment. */
function Aside({ name, instances }: { name: string; instances: Instance[] }) {
  const [, { isLoading: restarting }] = useRestartDeploymentMutation({ fixedCacheKey: `restart ${name}` })
  const blocked = instances.filter((instance) => ['blocked', 'unknown'].includes(concernOf(instance) ?? '')).length
  const players = countPlayers(instances)
  return (
    <span className={styles.aside}>
      {restarting && (
        <span className={styles.restarting}>
          <span className="spinner-border spinner-border-sm" aria-hidden="true" />
          Restarting
        </span>
      )}
      {blocked > 0 && <span className="state blocked">{blocked} blocked</span>}
      {players.count !== undefined && players.count > 0 && (
        <span className={styles.players}>{counted(players.count, 'player')}</span>
      )}
    </span>
  )
}

/** Replaces an instance that failed to render, for example because of an unknown state. */
function BrokenInstance({ name, message, isCard }: { name: string; message: string; isCard: boolean }) {
  return (
    <div className={isCard ? `${linkStyles.card} panel` : linkStyles.row} role="alert">
      <span className={linkStyles.name}>{name}</span>
      <span className={`${linkStyles.problem} state blocked`}>{message}</span>
    </div>
  )
}
