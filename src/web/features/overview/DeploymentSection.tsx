import { useId } from 'react'
import Collapse from 'react-bootstrap/Collapse'
import { useDispatch } from 'react-redux'
import { useAppSelector } from '../../app/hooks'
import { failureText } from '../../failure'
import type { OverviewSection } from '../../api/network'
import { counted } from '../../ui/counted'
import { ErrorBoundary } from '../../ui/ErrorBoundary'
import { Icon } from '../../ui/Icon'
import { InstanceCard } from './InstanceCard'
import { sectionToggled, selectIsCollapsed } from './overviewSlice'
import styles from './overview.module.scss'

export function DeploymentSection({ deployment, instances, failure }: OverviewSection) {
  const { name, enabled } = deployment
  const collapsed = useAppSelector((state) => selectIsCollapsed(state, name))
  const dispatch = useDispatch()
  const id = useId()

  return (
    <section className={styles.deployment} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} className={styles.deploymentHead}>
        <button
          type="button"
          aria-expanded={!collapsed}
          aria-controls={`${id}-instances`}
          onClick={() => dispatch(sectionToggled(name))}
        >
          <Icon name="chevron" />
          <span className={styles.deploymentName}>{name}</span>
          <span className={styles.count}>{failure ? 'unknown' : counted(instances.length, 'instance')}</span>
          {!enabled && <span className={styles.count}>disabled</span>}
        </button>
      </h2>
      <Collapse in={!collapsed}>
        <div id={`${id}-instances`}>
          {failure && (
            <p className={`${styles.deploymentNote} ${styles.failed}`} role="alert">
              {failureText(failure, 'Failed to fetch network data')}
              {instances.length > 0 && <span className="failure-hint">Showing what was known before.</span>}
            </p>
          )}
          {!failure && instances.length === 0 && (
            <p className={styles.deploymentNote}>No instances currently running</p>
          )}
          {instances.length > 0 && (
            <ul className={styles.instances}>
              {instances.map((instance) => (
                <li key={instance.uid}>
                  <ErrorBoundary
                    resetKey={instance.state}
                    fallback={(error) => <BrokenCard name={instance.name} message={error.message} />}
                  >
                    <InstanceCard deployment={name} instance={instance} />
                  </ErrorBoundary>
                </li>
              ))}
            </ul>
          )}
        </div>
      </Collapse>
    </section>
  )
}

/** Replaces a card that failed to render, for example because of an unknown state. */
function BrokenCard({ name, message }: { name: string; message: string }) {
  return (
    <div className={`${styles.instance} panel blocked`} role="alert">
      <span className={styles.instanceName}>{name}</span>
      <span className="state blocked">{message}</span>
    </div>
  )
}
