import { useId } from 'react'
import Collapse from 'react-bootstrap/Collapse'
import { useDispatch, useSelector } from 'react-redux'
import { failureText } from '../../api/transport/failure'
import type { OverviewSection } from '../../api/network'
import { counted } from '../../ui/counted'
import { ErrorBoundary } from '../../ui/ErrorBoundary'
import { Icon } from '../../ui/Icon'
import { InstanceCard } from './InstanceCard'
import { sectionToggled, selectIsCollapsed } from './overviewSlice'

export function DeploymentSection({ deployment, instances, failure }: OverviewSection) {
  const { name, enabled } = deployment
  const collapsed = useSelector((state: Parameters<typeof selectIsCollapsed>[0]) => selectIsCollapsed(state, name))
  const dispatch = useDispatch()
  const id = useId()

  return (
    <section className="deployment" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} className="deployment-head">
        <button
          type="button"
          aria-expanded={!collapsed}
          aria-controls={`${id}-instances`}
          onClick={() => dispatch(sectionToggled(name))}
        >
          <Icon name="chevron" />
          <span className="deployment-name">{name}</span>
          <span className="count">{failure ? 'unknown' : counted(instances.length, 'instance')}</span>
          {!enabled && <span className="count">disabled</span>}
        </button>
      </h2>
      <Collapse in={!collapsed}>
        <div id={`${id}-instances`}>
          {failure && (
            <p className="deployment-note failed" role="alert">
              {failureText(failure, 'Failed to fetch network data')}
              {instances.length > 0 && <span className="failure-hint">Showing what was known before.</span>}
            </p>
          )}
          {!failure && instances.length === 0 && <p className="deployment-note">No instances currently running</p>}
          {instances.length > 0 && (
            <ul className="instances">
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
    <div className="instance panel blocked" role="alert">
      <span className="instance-name">{name}</span>
      <span className="state blocked">{message}</span>
    </div>
  )
}
