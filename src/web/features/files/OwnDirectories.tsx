import { Link } from 'react-router-dom'
import { useGetDeploymentsQuery } from '../../api/deployments'
import { useAccess } from '../../api/useAccess'
import { ActionIcon } from '../../ui/ActionIcon'
import { failureDetail } from '../../failure'
import { LoadFailure } from '../../ui/LoadFailure'
import { Notice } from '../../ui/Notice'
import { addressOfPath } from './sharedPath'
import { FilesSkeleton } from './table/FilesSkeleton'
import styles from './files.module.scss'

/** Replaces the root for a limited user: lists the directories of the deployments whose files they may use. */
export function OwnDirectories() {
  const { data, error, isFetching, refetch } = useGetDeploymentsQuery()
  const { may } = useAccess()
  if (!data && error && !isFetching)
    return (
      <LoadFailure
        title="Failed to load your directories"
        detail={failureDetail(error)}
        busy={isFetching}
        onRetry={refetch}
      />
    )
  if (!data) return <FilesSkeleton />
  const own = data.filter(({ name }) => may('files', name))
  if (own.length === 0)
    return (
      <Notice title="No directories for you" icon="compass">
        <p>An administrator has to give you the right “files” on a deployment.</p>
      </Notice>
    )
  return (
    <ul className={`panel ${styles.ownDirectories}`} aria-label="Your directories">
      {own.map(({ name, path }) => (
        <li key={name}>
          <Link to={addressOfPath(path)}>
            <ActionIcon name="folder" />
            <span>{name}</span>
            <code>{path}</code>
          </Link>
        </li>
      ))}
    </ul>
  )
}
