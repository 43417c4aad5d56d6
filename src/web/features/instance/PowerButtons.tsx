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
import styles from './head.module.scss'

/** The delay of product §9. */
const REDIRECT_DELAY_MS = 1000

const notRunning = { STOPPED: 'It is not running', STOPPING: 'It is already shutting down' }
const notDrainable = { ...notRunning, BLOCKED: 'It is not running' }
/** For each button, the states in which it does nothing (product §4), with the reason. */
const reasons: Record<PowerAction, Partial<Record<Instance['state'], string>>> = {
  start: { RUNNING: 'It is already running', STARTING: 'It is already starting up' },
  restart: notRunning,
  stop: { ...notRunning, STOPPED: 'It is already stopped' },
  kill: { STOPPED: 'It is already stopped' },
  drainAndRestart: notDrainable,
  drainAndStop: notDrainable,
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
  const isKillDialogOpen = useSelector(selectIsKillRequested)
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
    const isDrain = action.startsWith('drain')
    const noEffect = reasons[action][state] ?? (isDrain && draining ? 'It is already draining' : undefined)
    const disabledBecause = mayUse ? noEffect : missingRight('power')
    const isSuggested = action === 'start' && disabledBecause === undefined
    return (
      <Button
        variant={isSuggested ? 'primary' : 'outline-secondary'}
        className={[styles.powerButton, action === 'kill' && styles.kill, isDrain && styles.wide]
          .filter(Boolean)
          .join(' ')}
        // Not disabled, because the pressed button would lose the focus.
        aria-disabled={disabledBecause !== undefined}
        title={disabledBecause}
        onClick={() => disabledBecause === undefined && onClick()}
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
      {isKillDialogOpen && <KillDialog name={name} onKill={kill} onClose={() => dispatch(killDialogClosed())} />}
    </div>
  )
}
