import { Link } from 'react-router-dom'
import { useAccess } from '../../api/useAccess'
import { Icon } from '../../ui/Icon'
import styles from './overview.module.scss'

export function NoDeployments() {
  const { isLimited } = useAccess()
  return isLimited ? (
    <section className={`${styles.empty} panel`}>
      <Icon name="compass" size={28} />
      <h2>No deployments for you yet</h2>
      <p>An administrator has to give you rights on a deployment.</p>
    </section>
  ) : (
    <section className={`${styles.empty} panel`}>
      <Icon name="compass" size={28} />
      <h2>No deployments yet</h2>
      <p>Create your first one, and its instances appear here.</p>
      <Link to="/deployments" className="btn btn-primary">
        Go to Deployments
      </Link>
    </section>
  )
}
