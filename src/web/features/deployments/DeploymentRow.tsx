import { Link } from 'react-router-dom'
import type { ListedDeployment } from '../../api/deployments'
import { useAccess } from '../../api/useAccess'
import { configurationAddress } from '../../addresses'
import { DeploymentActions } from './DeploymentActions'
import { DeploymentToggle } from './DeploymentToggle'
import { appearances, typeOf } from './deploymentType'
import { InstanceSummary } from './InstanceSummary'
import styles from './deploymentRow.module.scss'

export function DeploymentRow({ deployment, isNew }: { deployment: ListedDeployment; isNew: boolean }) {
  const { name, typeIndex, enabled, path, description } = deployment
  const type = typeOf(typeIndex)
  const { may } = useAccess()
  return (
    <article className={isNew ? `${styles.row} ${styles.isNew}` : styles.row} aria-label={name}>
      <div className={styles.title}>
        <div className={styles.name}>
          <h3>
            {may('configuration', name) ? (
              <Link to={configurationAddress(name)} data-row>
                {name}
              </Link>
            ) : (
              name
            )}
          </h3>
          {isNew && <span className={styles.newMark}>New</span>}
        </div>
        <span className={styles.type}>{type ? appearances[type].name : 'Unknown type'}</span>
      </div>
      <div className={styles.status}>
        <span className={enabled ? 'state running' : 'state stopped'}>{enabled ? 'Active' : 'Inactive'}</span>
        <InstanceSummary deployment={deployment} />
      </div>
      <div className={styles.about}>
        {description && <p title={description}>{description}</p>}
        <code title={path}>{path}</code>
      </div>
      <DeploymentActions deployment={deployment} />
      <div className={styles.toggle}>
        <DeploymentToggle deployment={deployment} />
      </div>
    </article>
  )
}
