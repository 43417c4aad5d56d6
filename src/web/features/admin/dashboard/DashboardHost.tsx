import { useGetDashboardHostQuery } from '../../../api/admin'
import { failureText } from '../../../failure'
import { safeLink } from './safeLink'
import styles from './dashboard.module.scss'

export function DashboardHost() {
  const { data: host, error } = useGetDashboardHostQuery(undefined, { refetchOnMountOrArgChange: true })
  const link = host && safeLink(host)
  return (
    <div className={styles.row}>
      <h2>Host</h2>
      {link && (
        <a href={link} target="_blank" rel="noopener noreferrer">
          {host}
        </a>
      )}
      {/* A host that is not a web address is shown without a link. */}
      {host && !link && <code>{host}</code>}
      {host === '' && <p>The server does not name the host of the dashboard.</p>}
      {!host && error && <p>{failureText(error, 'The host of the dashboard could not be loaded.')}</p>}
    </div>
  )
}
