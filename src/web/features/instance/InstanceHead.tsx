import { Link } from 'react-router-dom'
import type { Instance } from '../../../contract/instance'
import { useAccess } from '../../api/useAccess'
import { ActionIcon } from '../../ui/ActionIcon'
import { Icon } from '../../ui/Icon'
import { BackLink } from '../../ui/pageHead/BackLink'
import { TimeAgo } from '../../ui/time/TimeAgo'
import { configurationAddress } from '../../addresses'
import { useFilesAddress } from './useFilesAddress'
import { PowerButtons } from './PowerButtons'
import styles from './head.module.scss'

type InstanceHeadProps = { deployment: string; instance: Instance | undefined; problem: string | undefined }

/** The path to the instance, links to the rest of its deployment, and the power buttons. */
export function InstanceHead({ deployment, instance, problem }: InstanceHeadProps) {
  const { may } = useAccess()
  const filesAddress = useFilesAddress(deployment, instance)
  return (
    <div className={styles.head}>
      <BackLink to="/">Back to home</BackLink>
      <div className={styles.names}>
        <nav className={styles.trail} aria-label="Breadcrumb">
          <ol>
            <li>
              <Link to="/">Overview</Link>
              <Icon name="chevron" size={14} />
            </li>
            <li>
              <Link to="/deployments">{deployment}</Link>
              <Icon name="chevron" size={14} />
            </li>
            <li aria-current="page">
              <h1>{instance?.name || <span className="visually-hidden">Loading the instance</span>}</h1>
            </li>
          </ol>
        </nav>
        <div className={styles.belongings}>
          {may('files', deployment) && (
            <Link to={filesAddress} aria-label={`Files of ${deployment}`} title="Open files">
              <ActionIcon name="folder" />
              <span>Files</span>
            </Link>
          )}
          {may('configuration', deployment) && (
            <Link
              to={configurationAddress(deployment)}
              aria-label={`Configuration of ${deployment}`}
              title="Edit configuration"
            >
              <ActionIcon name="pencil" />
              <span>Configuration</span>
            </Link>
          )}
        </div>
        <Summary deployment={deployment} instance={instance} problem={problem} />
      </div>
      {instance && <PowerButtons {...instance} />}
    </div>
  )
}

function Summary({ deployment, instance, problem }: InstanceHeadProps) {
  const { clusterSilentSince, description } = instance ?? {}
  if (problem === undefined && clusterSilentSince === undefined)
    return <p className={`page-summary ${styles.summary}`}>{description || `Deployment ${deployment}`}</p>
  return (
    <p className={`page-summary failed ${styles.summary}`} role="alert">
      {problem === undefined && clusterSilentSince !== undefined ? (
        <>
          The Kubernetes cluster last answered <TimeAgo time={clusterSilentSince} />. Showing the state at that time.
        </>
      ) : (
        `${problem}. Showing the last known state.`
      )}
    </p>
  )
}
