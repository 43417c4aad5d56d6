import { useId } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import type { DeploymentType } from '../../../contract/deployment'
import type { ListedDeployment } from '../../api/deployments'
import { useAccess } from '../../api/useAccess'
import { EmptyState } from '../../ui/EmptyState'
import { DeploymentRow } from './DeploymentRow'
import { creationStarted, selectGuide } from './deploymentsSlice'
import styles from './deployments.module.scss'

type DeploymentsSectionProps = {
  title: string
  deployments: ListedDeployment[]
  empty: string
  /** Text of the button in an empty section. */
  create: string
  type: DeploymentType
}

export function DeploymentsSection({ title, deployments, empty, create, type }: DeploymentsSectionProps) {
  const newName = useSelector(selectGuide)?.name
  const dispatch = useDispatch()
  const { isLimited } = useAccess()
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <h2 id={id}>{title}</h2>
        {deployments.length > 1 && <span>{deployments.length}</span>}
      </div>
      {deployments.length === 0 ? (
        <EmptyState
          action={
            !isLimited && (
              <Button variant="outline-secondary" size="sm" onClick={() => dispatch(creationStarted(type))}>
                {create}
              </Button>
            )
          }
        >
          {empty}
        </EmptyState>
      ) : (
        <ul className={`${styles.rows} panel`}>
          {deployments.map((deployment) => (
            <li key={deployment.name}>
              <DeploymentRow deployment={deployment} isNew={deployment.name === newName} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
