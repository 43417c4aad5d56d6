import Button from 'react-bootstrap/Button'
import { useGetDashboardTokenQuery } from '../../../api/admin'
import { failureDetail, failureText, isUnavailable } from '../../../failure'
import { Icon } from '../../../ui/Icon'
import { LoadFailure } from '../../../ui/LoadFailure'
import { DashboardHost } from './DashboardHost'
import { DashboardToken } from './DashboardToken'
import { ListSkeleton } from '../ListSkeleton'
import styles from './dashboard.module.scss'

export function DashboardTab() {
  const {
    data: token,
    error,
    isFetching,
    refetch,
  } = useGetDashboardTokenQuery(undefined, { refetchOnMountOrArgChange: true })

  if (error && isUnavailable(error)) {
    return (
      <section className={`panel ${styles.missing}`} aria-labelledby="dashboard-missing">
        <Icon name="compass" size={28} />
        <h2 id="dashboard-missing">The Kubernetes dashboard is not available</h2>
        {/* The server's text names the setting that is missing. */}
        <p>{failureText(error, 'The Kubernetes dashboard is not configured on this server.')}</p>
        <Button variant="outline-secondary" aria-disabled={isFetching} onClick={() => !isFetching && refetch()}>
          Check again
        </Button>
      </section>
    )
  }
  if (error)
    return (
      <LoadFailure
        title="Failed to load K8s dashboard token"
        detail={failureDetail(error)}
        busy={isFetching}
        onRetry={refetch}
      />
    )
  if (token === undefined) return <ListSkeleton label="Loading the Kubernetes dashboard token" />
  return (
    <section className="panel">
      <DashboardHost />
      <DashboardToken token={token} />
    </section>
  )
}
