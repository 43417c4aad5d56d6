import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { Instance } from '../../../contract/instance'
import type { PowerAction } from '../../sockets/consoleSlice'
import { powerRequested, selectConnection } from '../../sockets/consoleSlice'
import { missingRight, useAccess } from '../../api/useAccess'
import { ActionIcon } from '../../ui/ActionIcon'
import { killDialogClosed, killRequested, selectIsKillRequested } from './instanceSlice'
import { KillDialog } from './KillDialog'
import { ToolIcon } from './console/log/ToolIcon'
import styles from './instance.module.scss'

/** Product §9. */
const REDIRECT_DELAY_MS = 1000

/** The states in which each button does nothing (product §4). */
const ineffectiveStates: Record<PowerAction, readonly Instance['state'][]> = {
  start: ['RUNNING', 'STARTING'],
  restart: ['STOPPED', 'STOPPING'],
  stop: ['STOPPED', 'STOPPING'],
  kill: ['STOPPED'],
  drainAndRestart: ['STOPPED', 'STOPPING', 'BLOCKED'],
  drainAndStop: ['STOPPED', 'STOPPING', 'BLOCKED'],
}

export function PowerButtons({
  deployment,
  name,
  state,
  type,
  canDrain,
  draining,
}: Pick<Instance, 'deployment' | 'name' | 'state' | 'type' | 'canDrain' | 'draining'>) {
  const mayUse = useAccess().may('power', deployment)
  const isKillAsked = useSelector(selectIsKillRequested)
  const isOpen = useSelector(selectConnection) === 'open'
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const [isKilled, setIsKilled] = useState(false)

  useEffect(() => {
    if (!isKilled) return
    const timer = setTimeout(() => void navigate('/'), REDIRECT_DELAY_MS)
    return () => clearTimeout(timer)
  }, [isKilled, navigate])

  const kill = () => {
    dispatch(killDialogClosed())
    dispatch(powerRequested('kill'))
    // A request that cannot be sent is in the problem log, and the user stays on the page.
    if (isOpen) setIsKilled(true)
  }
  const button = (action: PowerAction, label: string, icon: ReactNode, onClick: () => unknown) => {
    const isIneffective =
      !mayUse || ineffectiveStates[action].includes(state) || (draining === true && action.startsWith('drain'))
    return (
      <Button
        variant={action === 'kill' ? 'outline-danger' : action === 'start' ? 'primary' : 'outline-secondary'}
        className={styles.powerButton}
        // Not disabled, because the pressed button would lose the focus.
        aria-disabled={isIneffective}
        title={mayUse ? undefined : missingRight('power')}
        onClick={() => !isIneffective && onClick()}
      >
        {icon}
        {label}
      </Button>
    )
  }
  const request = (action: PowerAction) => () => dispatch(powerRequested(action))

  return (
    <div className={styles.powerButtons} role="group" aria-label="Power">
      {type !== 'process' && button('start', 'Start', <ToolIcon name="play" />, request('start'))}
      {type !== 'process' && button('restart', 'Restart', <ActionIcon name="restart" />, request('restart'))}
      {canDrain &&
        button('drainAndRestart', 'Drain and restart', <ActionIcon name="restart" />, request('drainAndRestart'))}
      {canDrain && button('drainAndStop', 'Drain and stop', <ToolIcon name="stop" />, request('drainAndStop'))}
      {button('stop', 'Stop', <ToolIcon name="stop" />, request('stop'))}
      {button('kill', 'Kill', <ToolIcon name="kill" />, () => dispatch(killRequested()))}
      {isKillAsked && <KillDialog name={name} onKill={kill} onClose={() => dispatch(killDialogClosed())} />}
    </div>
  )
}
