import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { Instance } from '../../../contract/instance'
import type { PowerAction } from '../../sockets/consoleSlice'
import { powerRequested } from '../../sockets/consoleSlice'
import { ActionIcon } from '../../ui/ActionIcon'
import { killAnswered, killAsked, selectKillAsked } from './instanceSlice'
import { KillDialog } from './KillDialog'
import { ToolIcon } from './ToolIcon'

/** Product §9. In milliseconds. */
const HOME_MS = 1000

/** In which states a button does nothing (product §4). */
const useless: Record<PowerAction, readonly Instance['state'][]> = {
  start: ['RUNNING', 'STARTING'],
  restart: ['STOPPED', 'STOPPING'],
  stop: ['STOPPED', 'STOPPING'],
  kill: ['STOPPED'],
  drainAndRestart: ['STOPPED', 'STOPPING', 'BLOCKED'],
  drainAndStop: ['STOPPED', 'STOPPING', 'BLOCKED'],
}

export function PowerButtons({
  name,
  state,
  type,
  canDrain,
  draining,
}: Pick<Instance, 'name' | 'state' | 'type' | 'canDrain' | 'draining'>) {
  const isKillAsked = useSelector(selectKillAsked)
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const [isKilled, setIsKilled] = useState(false)

  useEffect(() => {
    if (!isKilled) return
    const timer = setTimeout(() => void navigate('/'), HOME_MS)
    return () => clearTimeout(timer)
  }, [isKilled, navigate])

  const kill = () => {
    dispatch(killAnswered())
    // The middleware answers in place of the action whether it was sent: nobody is led away from what goes on.
    if (dispatch(powerRequested('kill')) as unknown) setIsKilled(true)
  }
  const button = (action: PowerAction, label: string, icon: ReactNode, onClick: () => unknown) => {
    const isUseless = useless[action].includes(state) || (draining === true && action.startsWith('drain'))
    return (
      <Button
        variant={action === 'kill' ? 'outline-danger' : action === 'start' ? 'primary' : 'outline-secondary'}
        className="power-button"
        // Not disabled: whoever pressed it would lose their place by what it does.
        aria-disabled={isUseless}
        onClick={() => !isUseless && onClick()}
      >
        {icon}
        {label}
      </Button>
    )
  }
  const request = (action: PowerAction) => () => dispatch(powerRequested(action))

  return (
    <div className="power-buttons" role="group" aria-label="Power">
      {type !== 'process' && button('start', 'Start', <ToolIcon name="play" />, request('start'))}
      {type !== 'process' && button('restart', 'Restart', <ActionIcon name="restart" />, request('restart'))}
      {canDrain &&
        button('drainAndRestart', 'Drain and restart', <ActionIcon name="restart" />, request('drainAndRestart'))}
      {canDrain && button('drainAndStop', 'Drain and stop', <ToolIcon name="stop" />, request('drainAndStop'))}
      {button('stop', 'Stop', <ToolIcon name="stop" />, request('stop'))}
      {button('kill', 'Kill', <ToolIcon name="kill" />, () => dispatch(killAsked()))}
      {isKillAsked && <KillDialog name={name} onKill={kill} onClose={() => dispatch(killAnswered())} />}
    </div>
  )
}
