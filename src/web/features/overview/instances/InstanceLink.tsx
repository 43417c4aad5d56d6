import { memo } from 'react'
import { Link } from 'react-router-dom'
import type { Instance } from '../../../../contract/instance'
import { appearanceOf, playerCountOf, retryText } from '../../../instanceState'
import { counted } from '../../../ui/counted'
import { Icon } from '../../../ui/Icon'
import { useCountdown } from '../../../ui/time/useNow'
import { instanceAddress } from '../../../addresses'
import { rounded } from '../totals'
import { Sparkline } from './Sparkline'
import { UsageBar } from './UsageBar'
import styles from './instanceLink.module.scss'

type InstanceLinkProps = {
  deployment: string
  instance: Instance
  isCard: boolean
  /** CPU at the last polls; only rows show them. */
  samples: readonly number[] | undefined
}

/** An instance as a card or as a row, which differ by their style. Memoized: there may be a thousand. */
export const InstanceLink = memo(function InstanceLink({ deployment, instance, isCard, samples }: InstanceLinkProps) {
  const { uid, name, description, node, state } = instance
  const isUp = state !== 'STOPPED' && state !== 'BLOCKED'
  const retry = state === 'STOPPED' ? instance.retry : undefined
  const lateStart = state === 'STARTING' ? instance.lateStart : undefined
  const draining = state !== 'STOPPED' && instance.draining
  const [id] = name.split('-')
  return (
    <Link
      to={instanceAddress(deployment, uid)}
      state={{ instance }}
      data-row
      className={isCard ? `${styles.card} panel` : styles.row}
    >
      <span className={styles.name} title={isCard ? undefined : name}>
        {name}
      </span>
      {(description || node || lateStart || draining) && (
        <span className={styles.about}>
          {lateStart && (
            <span className={styles.warning} title={`It waits for ${lateStart.waitingFor}`}>
              Not ready after {lateStart.afterSeconds} s
            </span>
          )}
          {draining && <span className={styles.warning}>Draining: no new players</span>}
          {node && (
            <span>
              on <span className={styles.node}>{node}</span>
            </span>
          )}
          {description && <span>{description}</span>}
        </span>
      )}
      {retry ? <Retry {...retry} /> : <State state={state} />}
      <span className={styles.id}>ID: {id}</span>
      <Players instance={instance} />
      {isUp && (
        <>
          <span className={styles.cpu}>
            <span className={isCard ? styles.label : 'visually-hidden'}>CPU </span>
            <UsageBar className={styles.bar} share={instance.cpu / 100} />
            <span className={styles.figure}>{rounded(instance.cpu, 1)}&nbsp;%</span>
          </span>
          {!isCard && <Sparkline className={styles.sparkline} samples={samples} />}
          <span className={styles.memory}>
            <span className={isCard ? styles.label : 'visually-hidden'}>Memory </span>
            <UsageBar className={styles.bar} share={shareOf(instance.memory)} />
            <span className={styles.figure}>
              {rounded(instance.memory.used, 2)}/{rounded(instance.memory.total, 2)}&nbsp;GiB
            </span>
          </span>
          {!isCard && (
            <span className={styles.uptime}>
              <span className="visually-hidden">Uptime </span>
              {instance.uptime}
            </span>
          )}
        </>
      )}
    </Link>
  )
})

const shareOf = ({ used, total }: Instance['memory']) => (total > 0 ? used / total : 0)

function Players({ instance }: { instance: Instance }) {
  const count = playerCountOf(instance)
  if (count === undefined) return null
  return (
    <span
      className={styles.players}
      title={count === null ? 'The number of players is unknown: the server does not answer' : counted(count, 'player')}
    >
      <Icon name="players" size={14} />
      {count ?? '?'}
      <span className="visually-hidden"> {count === 1 ? 'player' : 'players'}</span>
    </span>
  )
}

function State({ state }: Pick<Instance, 'state'>) {
  const { name, tone } = appearanceOf(state)
  return <span className={`${styles.state} state ${tone}`}>{name}</span>
}

function Retry(retry: NonNullable<Instance['retry']>) {
  const text = retryText(retry, useCountdown(retry.inMs))
  return (
    <span className={`${styles.state} state changing`} title={text}>
      {text}
    </span>
  )
}
