import { Link } from 'react-router-dom'
import type { Instance } from '../../../contract/instance'
import { appearanceOf, playerCountOf, retryText } from '../../instanceState'
import { counted } from '../../ui/counted'
import { Icon } from '../../ui/Icon'
import { useCountdown } from '../../ui/time/useCountdown'
import styles from './overview.module.scss'

export function InstanceCard({ deployment, instance }: { deployment: string; instance: Instance }) {
  const { uid, name, description, state } = instance
  const draining = state !== 'STOPPED' && instance.draining
  const retry = state === 'STOPPED' ? instance.retry : undefined
  const lateStart = state === 'STARTING' ? instance.lateStart : undefined
  const count = playerCountOf(instance)
  const [id] = name.split('-')
  return (
    <Link
      to={`/instance/${encodeURIComponent(deployment)}/${encodeURIComponent(uid)}`}
      state={{ instance }}
      className={`${styles.instance} panel ${retry ? 'changing' : appearanceOf(state).tone}`}
    >
      <span className={styles.instanceHead}>
        <span className={styles.instanceName}>{name}</span>
        {count !== undefined && (
          <span
            className={styles.players}
            title={
              count === null ? 'The number of players is unknown: the server does not answer' : counted(count, 'player')
            }
          >
            <Icon name="players" size={14} />
            {count ?? '?'}
            <span className="visually-hidden"> {count === 1 ? 'player' : 'players'}</span>
          </span>
        )}
      </span>
      {description && <span className={styles.instanceDescription}>{description}</span>}
      {lateStart && (
        <span className={styles.instanceWarning} title={`It waits for ${lateStart.waitingFor}`}>
          Not ready after {lateStart.afterSeconds} s
        </span>
      )}
      {draining && <span className={styles.instanceWarning}>Draining: no new players</span>}
      <span className={styles.instanceFoot}>
        {retry ? <Retry {...retry} /> : <State state={state} />}
        <span className={styles.instanceId}>ID: {id}</span>
      </span>
    </Link>
  )
}

function State({ state }: Pick<Instance, 'state'>) {
  const { name, tone } = appearanceOf(state)
  return <span className={`state ${tone}`}>{name}</span>
}

function Retry(retry: NonNullable<Instance['retry']>) {
  return <span className="state changing">{retryText(retry, useCountdown(retry.inMs))}</span>
}
