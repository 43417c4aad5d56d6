import { useId } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch } from 'react-redux'
import type { Deployment, DeploymentType } from '../../../contract/deployment'
import { useAccess } from '../../api/useAccess'
import { DeploymentCard } from './DeploymentCard'
import { creationStarted } from './deploymentsSlice'
import styles from './deployments.module.scss'

type DeploymentsSectionProps = {
  title: string
  deployments: Deployment[]
  empty: string
  /** Text of the button in an empty section. */
  create: string
  type: DeploymentType
}

export function DeploymentsSection({ title, deployments, empty, create, type }: DeploymentsSectionProps) {
  const dispatch = useDispatch()
  const { isLimited } = useAccess()
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {deployments.length === 0 ? (
        <div className={styles.empty}>
          <p>{empty}</p>
          {!isLimited && (
            <Button variant="outline-secondary" size="sm" onClick={() => dispatch(creationStarted(type))}>
              {create}
            </Button>
          )}
        </div>
      ) : (
        <ul className={styles.grid}>
          {deployments.map((deployment) => (
            <li key={deployment.name}>
              <DeploymentCard deployment={deployment} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
