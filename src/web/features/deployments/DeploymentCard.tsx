import type { Deployment } from '../../../contract/deployment'
import { DeploymentActions } from './DeploymentActions'
import { DeploymentToggle } from './DeploymentToggle'
import { appearances, typeOf } from './deploymentType'
import styles from './deployments.module.scss'

export function DeploymentCard({ deployment }: { deployment: Deployment }) {
  const { name, typeIndex, enabled, path, description } = deployment
  const type = typeOf(typeIndex)
  return (
    <article className={`${styles.card} panel`} aria-label={name}>
      <div className={styles.cardHead}>
        <span className={enabled ? 'state running' : 'state stopped'}>{enabled ? 'Active' : 'Inactive'}</span>
        <DeploymentToggle name={name} enabled={enabled} />
      </div>
      <div className={styles.cardTitle}>
        <h3>{name}</h3>
        <span className={styles.type}>{type ? appearances[type].name : 'Unknown type'}</span>
      </div>
      <code>{path}</code>
      {description && <p>{description}</p>}
      <DeploymentActions deployment={deployment} />
    </article>
  )
}
