import { useDispatch } from 'react-redux'
import { Link } from 'react-router-dom'
import type { Deployment } from '../../../contract/deployment'
import { useRestartDeploymentMutation } from '../../api/deployments'
import { missingRight, useAccess } from '../../api/useAccess'
import { useReportResult } from '../../api/useReportResult'
import { ActionIcon } from '../../ui/ActionIcon'
import { useOneAtATime } from '../../ui/useOneAtATime'
import { deletionRequested } from './deploymentsSlice'
import { typeOf } from './deploymentType'
import styles from './deployments.module.scss'

export function DeploymentActions({
  deployment: { name, typeIndex, enabled, dataDirectory },
}: {
  deployment: Deployment
}) {
  // The fixed key keeps the state of the call in the store, so that it survives an unmounted card.
  const [restart, { isLoading: restarting }] = useRestartDeploymentMutation({ fixedCacheKey: `restart ${name}` })
  const { isLimited, may } = useAccess()
  const report = useReportResult()
  const dispatch = useDispatch()

  const onRestart = useOneAtATime(async () => {
    if (restarting) return
    report(await restart(name), `Successfully restarted ${name}`, `Failed to restart ${name}`)
  })

  return (
    <div className={styles.actions}>
      <button
        type="button"
        className={styles.action}
        aria-label={`Restart ${name}`}
        aria-busy={restarting}
        aria-disabled={restarting}
        disabled={(!enabled && !restarting) || !may('power', name)}
        title={restartTitle(enabled, may('power', name))}
        onClick={onRestart}
      >
        {restarting ? (
          <span className="spinner-border spinner-border-sm" aria-hidden="true" />
        ) : (
          <ActionIcon name="restart" />
        )}
        <span>Restart</span>
      </button>
      {may('files', name) && (
        <Link
          className={styles.action}
          to={filesAddress(dataDirectory)}
          aria-label={`Open files of ${name}`}
          title="Open files"
        >
          <ActionIcon name="folder" />
          <span>Files</span>
        </Link>
      )}
      {may('configuration', name) && (
        <Link
          className={styles.action}
          to={`/deployments/${encodeURIComponent(name)}/edit`}
          aria-label={`Edit ${name}`}
          title="Edit configuration"
        >
          <ActionIcon name="pencil" />
          <span>Edit</span>
        </Link>
      )}
      {typeOf(typeIndex) !== 'proxy' && !isLimited && (
        <button
          type="button"
          className={`${styles.action} ${styles.actionDanger}`}
          aria-label={`Delete ${name}`}
          title="Delete"
          onClick={() => dispatch(deletionRequested(name))}
        >
          <ActionIcon name="trash" />
          <span>Delete</span>
        </button>
      )}
    </div>
  )
}

function restartTitle(enabled: boolean, mayRestart: boolean): string {
  if (!mayRestart) return missingRight('power')
  return enabled ? 'Restart all instances, one after another' : 'Only an active deployment can be restarted'
}

const filesAddress = (dataDirectory: string) =>
  `/files${dataDirectory.replace(/^\/*/, '/').split('/').map(encodeURIComponent).join('/')}`
