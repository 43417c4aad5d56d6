import type { ReactNode } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import type { Instance } from '../../../contract/instance'
import { TRIED_AGAIN } from '../../../contract/pageRules'
import { useAccess } from '../../api/useAccess'
import { powerRequested, selectEnd } from '../../sockets/consoleSlice'
import { Icon } from '../../ui/Icon'
import { TimeAgo } from '../../ui/time/TimeAgo'
import { configurationAddress } from '../../addresses'
import { useFilesAddress } from './useFilesAddress'
import { crashCapsuleRequested } from './instanceSlice'
import styles from './blockedBanner.module.scss'

type BlockedBannerProps = { deployment: string; instance: Instance; onDetails: () => void }

/** Explains why the instance is blocked and what to do about it. */
export function BlockedBanner({ deployment, instance, onDetails }: BlockedBannerProps) {
  const { blockedReason, crashedAt, lastExit, type } = instance
  const isJarMissing = useSelector(selectEnd) === 'jarMissing' || /^jar file not found/i.test(blockedReason ?? '')
  const isCrashLoop = !isJarMissing && /^ended \d+ times/i.test(blockedReason ?? '')
  const isTriedAgain = blockedReason?.endsWith(TRIED_AGAIN) ?? false
  const { may } = useAccess()
  const filesAddress = useFilesAddress(deployment, instance)
  const dispatch = useDispatch()

  const openCrash = () => {
    if (crashedAt !== undefined) dispatch(crashCapsuleRequested(crashedAt))
    onDetails()
  }
  const again = type === 'process' ? 'restart its deployment' : 'start it again'
  return (
    <section className={styles.banner} role="status" aria-label="Blocked">
      <Icon name="alert" size={20} />
      <div className={styles.text}>
        <p className={styles.reason}>
          {withFullStop(blockedReason ?? (isJarMissing ? 'Jar file not found!' : 'The instance is blocked.'))}
        </p>
        <p className={styles.remedy}>
          {remedyOf({ isJarMissing, isCrashLoop, isTriedAgain, isUnexplained: blockedReason === undefined, again })}
        </p>
        {isCrashLoop && lastExit && (
          <p className={styles.remedy}>
            Last exit: {lastExit.reason}, <TimeAgo time={lastExit.at} />
          </p>
        )}
      </div>
      <div className={styles.actions}>
        {isJarMissing && may('files', deployment) && <Action to={filesAddress}>Open files</Action>}
        {isCrashLoop && crashedAt !== undefined && may('console', deployment) && (
          <Button variant="outline-secondary" onClick={openCrash}>
            Open crash details
          </Button>
        )}
        {!isCrashLoop && may('configuration', deployment) && (
          <Action to={configurationAddress(deployment)}>Open configuration</Action>
        )}
        {type === 'process' && <Action to="/deployments">Open deployments</Action>}
        {isCrashLoop && type !== 'process' && may('power', deployment) && (
          <Button variant="outline-secondary" onClick={() => dispatch(powerRequested('start'))}>
            Start again
          </Button>
        )}
      </div>
    </section>
  )
}

function Action({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link to={to} className="btn btn-outline-secondary">
      {children}
    </Link>
  )
}

type Cause = Record<'isJarMissing' | 'isCrashLoop' | 'isTriedAgain' | 'isUnexplained', boolean> & { again: string }

function remedyOf({ isJarMissing, isCrashLoop, isTriedAgain, isUnexplained, again }: Cause): string {
  if (isJarMissing) return `Upload the jar to its files, or name another one in the configuration. Then ${again}.`
  if (isCrashLoop) return `The crash details show its last console lines. Fix the cause, then ${again}.`
  if (isTriedAgain) return `To try at once, ${again}.`
  if (isUnexplained) return `The last lines of its console show the reason. Fix it, then ${again}.`
  return `Fix this, then ${again}.`
}

const withFullStop = (text: string) => (/[.!?]$/.test(text) || /[/\\]\S*$/.test(text) ? text : `${text}.`)
