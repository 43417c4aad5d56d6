import { Link } from 'react-router-dom'
import { Icon } from '../../ui/Icon'
import styles from './overview.module.scss'

export function NoDeployments() {
  return (
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
