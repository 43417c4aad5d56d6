import { useDispatch } from 'react-redux'
import { Link, useNavigate } from 'react-router-dom'
import type { ListedDeployment } from '../../api/deployments'
import { missingRight, useAccess } from '../../api/useAccess'
import { useAppSelector } from '../../app/hooks'
import { ActionIcon } from '../../ui/ActionIcon'
import { Menu, MenuItem } from '../../ui/Menu'
import { configurationAddress, filesAddress } from '../../addresses'
import { deletionRequested, menuToggled, selectIsMenuOpen } from './deploymentsSlice'
import { typeOf } from './deploymentType'
import { useIsRestarting } from '../../deploymentPower/power'
import { useAskFirst } from '../../deploymentPower/useAskFirst'
import styles from './deploymentActions.module.scss'

/** Icon buttons, or on narrow screens a menu. */
export function DeploymentActions({ deployment }: { deployment: ListedDeployment }) {
  const { name, typeIndex, enabled, dataDirectory, counts } = deployment
  const isRestarting = useIsRestarting(name)
  const askFirst = useAskFirst()
  const { isLimited, may } = useAccess()
  const isMenuOpen = useAppSelector((state) => selectIsMenuOpen(state, name))
  const dispatch = useDispatch()
  const navigate = useNavigate()

  const files = may('files', name) ? filesAddress(dataDirectory) : undefined
  const configuration = may('configuration', name) ? configurationAddress(name) : undefined
  const mayDelete = typeOf(typeIndex) !== 'proxy' && !isLimited
  const whyNoRestart = !may('power', name)
    ? missingRight('power')
    : isRestarting
      ? 'It is being restarted'
      : enabled
        ? undefined
        : 'Only an active deployment can be restarted'
  const onRestart = () => {
    if (whyNoRestart === undefined) askFirst('restart', name, counts)
  }
  const onDelete = () => dispatch(deletionRequested(name))

  return (
    <>
      <div className={styles.actions}>
        <button
          type="button"
          className={styles.action}
          aria-label={`Restart ${name}`}
          aria-busy={isRestarting}
          // Not disabled, because the pressed button would lose the focus.
          aria-disabled={whyNoRestart !== undefined}
          title={whyNoRestart ?? 'Restart all instances, one after another'}
          onClick={onRestart}
        >
          {isRestarting ? (
            <span className="spinner-border spinner-border-sm" aria-hidden="true" />
          ) : (
            <ActionIcon name="restart" />
          )}
        </button>
        {files && (
          <Link className={styles.action} to={files} aria-label={`Open files of ${name}`} title="Open files">
            <ActionIcon name="folder" />
          </Link>
        )}
        {configuration && (
          <Link className={styles.action} to={configuration} aria-label={`Edit ${name}`} title="Edit configuration">
            <ActionIcon name="pencil" />
          </Link>
        )}
        {mayDelete && (
          <button
            type="button"
            className={`${styles.action} ${styles.actionDanger}`}
            aria-label={`Delete ${name}`}
            title="Delete"
            onClick={onDelete}
          >
            <ActionIcon name="trash" />
          </button>
        )}
      </div>
      <div className={styles.menu}>
        <Menu
          label={`Actions for ${name}`}
          isOpen={isMenuOpen}
          onToggle={(open) => dispatch(menuToggled({ name, open }))}
        >
          <MenuItem onClick={onRestart} disabledBecause={whyNoRestart}>
            Restart
          </MenuItem>
          {files && <MenuItem onClick={() => void navigate(files)}>Open files</MenuItem>}
          {configuration && <MenuItem onClick={() => void navigate(configuration)}>Edit configuration</MenuItem>}
          {mayDelete && (
            <MenuItem danger onClick={onDelete}>
              Delete
            </MenuItem>
          )}
        </Menu>
      </div>
    </>
  )
}
