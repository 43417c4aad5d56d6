import type { ReactNode } from 'react'
import type { Instance } from '../../../contract/instance'
import { appearanceOf, retryText } from '../../instanceState'
import { counted } from '../../ui/counted'
import { ErrorBoundary } from '../../ui/ErrorBoundary'
import { useCountdown } from '../../ui/time/useNow'
import styles from './instance.module.scss'

/** The cards have a fixed height, so that the layout below does not move. */
export function InstanceCards({ instance }: { instance: Instance | undefined }) {
  const { state = '', memory } = instance ?? {}
  const isDown = state === 'STOPPED' || state === 'BLOCKED'
  // The state arrives at once, but the figures only with the next poll, so those of a stopped instance are outdated.
  const { connections = 0, uptime, cpu = 0 } = (!isDown && instance) || {}
  const retry = state === 'STOPPED' ? instance?.retry : undefined
  const lateStart = state === 'STARTING' ? instance?.lateStart : undefined
  const isUnknown = !isDown && instance?.playerCount === null
  const { used = 0, total = 0 } = { ...memory, ...(isDown && { used: 0 }) }
  return (
    <div className={`${styles.cards} ${instance?.state === 'BLOCKED' ? styles.noFigures : ''}`}>
      <Card label="Status">
        {instance && (
          <ErrorBoundary
            resetKey={state}
            fallback={({ message }) => (
              <span className={styles.cardError} role="alert">
                {message}
              </span>
            )}
          >
            {retry ? <Retry {...retry} /> : <Status state={state} />}
          </ErrorBoundary>
        )}
        {lateStart ? (
          <span className={`${styles.cardAside} ${styles.cardWarning}`} title={`It waits for ${lateStart.waitingFor}`}>
            Not ready after {lateStart.afterSeconds} s
          </span>
        ) : (
          !retry && (
            <span className={styles.cardAside}>
              {isUnknown ? 'connections unknown' : counted(connections, 'connection')}
              {!isDown && instance?.draining && ', draining'}
            </span>
          )
        )}
      </Card>
      <Card label="Uptime">
        <span className={styles.cardValue}>{uptime || '0s'}</span>
      </Card>
      <Card label="CPU Usage" title="CPU">
        <span className={styles.cardValue}>{rounded(cpu, 1)}%</span>
        <span className={styles.cardAside}>of 100%</span>
        <UsageBar of={cpu / 100} />
      </Card>
      <Card label="Memory Usage" title="Memory">
        <span className={styles.cardValue}>
          {rounded(used, 2)}/<wbr />
          {rounded(total, 2)} GiB
        </span>
        <UsageBar of={total > 0 ? used / total : 0} />
      </Card>
    </div>
  )
}

type CardProps = {
  label: string
  /** The beginning of the label, the only part that phones show. */
  title?: string
  children: ReactNode
}

function Card({ label, title = label, children }: CardProps) {
  return (
    <section className={`${styles.card} panel`} aria-label={label}>
      <h2>
        {title}
        <span className={styles.restOfLabel}>{label.slice(title.length)}</span>
      </h2>
      {children}
    </section>
  )
}

function Status({ state }: { state: string }) {
  const { name, tone } = appearanceOf(state)
  return <span className={`${styles.cardValue} state ${tone}`}>{name}</span>
}

function Retry(retry: NonNullable<Instance['retry']>) {
  return (
    <span className={`${styles.cardValue} ${styles.cardRetry} state changing`}>
      {retryText(retry, useCountdown(retry.inMs))}
    </span>
  )
}

/** A bar that repeats the figure beside it, so it is hidden from screen readers. */
function UsageBar({ of }: { of: number }) {
  return (
    <span className={styles.share} aria-hidden="true">
      <span style={{ width: `${Math.min(100, Math.max(0, of * 100))}%` }} />
    </span>
  )
}

const rounded = (value: number, digits: number) => value.toFixed(digits).replace(/\.0+$/, '')
