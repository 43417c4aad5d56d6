import type { ReactNode } from 'react'
import type { Instance } from '../../../contract/instance'
import { appearanceOf, retryText } from '../../instanceState'
import { counted } from '../../ui/counted'
import { ErrorBoundary } from '../../ui/ErrorBoundary'
import { useCountdown } from '../../ui/time/useCountdown'

/** The cards have a fixed height, so that the layout below does not move. */
export function InstanceCards({ instance }: { instance: Instance | undefined }) {
  const { state = '', memory } = instance ?? {}
  const isDown = state === 'STOPPED' || state === 'BLOCKED'
  // The state arrives at once, the figures with the next poll: those of a stopped instance are outdated.
  const { connections = 0, uptime, cpu = 0 } = (!isDown && instance) || {}
  const retry = state === 'STOPPED' ? instance?.retry : undefined
  const lateStart = state === 'STARTING' ? instance?.lateStart : undefined
  const isUnknown = !isDown && instance?.playerCount === null
  const { used = 0, total = 0 } = { ...memory, ...(isDown && { used: 0 }) }
  return (
    <div className="cards">
      <Card label="Status">
        {instance && (
          <ErrorBoundary
            resetKey={state}
            fallback={({ message }) => (
              <span className="card-error" role="alert">
                {message}
              </span>
            )}
          >
            {retry ? <Retry {...retry} /> : <Status state={state} />}
          </ErrorBoundary>
        )}
        {lateStart ? (
          <span className="card-aside card-warning" title={`It waits for ${lateStart.waitingFor}`}>
            Not ready after {lateStart.afterSeconds} s
          </span>
        ) : (
          !retry && (
            <span className="card-aside">
              {isUnknown ? 'connections unknown' : counted(connections, 'connection')}
              {!isDown && instance?.draining && ', draining'}
            </span>
          )
        )}
      </Card>
      <Card label="Uptime">
        <span className="card-value">{uptime || '0s'}</span>
      </Card>
      <Card label="CPU Usage">
        <span className="card-value">{rounded(cpu, 1)}%</span>
        <span className="card-aside">of 100%</span>
        <UsageBar of={cpu / 100} />
      </Card>
      <Card label="Memory Usage">
        <span className="card-value">
          {rounded(used, 2)}/{rounded(total, 2)} GiB
        </span>
        <UsageBar of={total > 0 ? used / total : 0} />
      </Card>
    </div>
  )
}

function Card({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section className="card panel" aria-label={label}>
      <h2>{label}</h2>
      {children}
    </section>
  )
}

function Status({ state }: { state: string }) {
  const { name, tone } = appearanceOf(state)
  return <span className={`card-value state ${tone}`}>{name}</span>
}

function Retry(retry: NonNullable<Instance['retry']>) {
  return <span className="card-value card-retry state changing">{retryText(retry, useCountdown(retry.inMs))}</span>
}

/** A bar that repeats the figure beside it, so it is hidden from screen readers. */
function UsageBar({ of }: { of: number }) {
  return (
    <span className="share" aria-hidden="true">
      <span style={{ width: `${Math.min(100, Math.max(0, of * 100))}%` }} />
    </span>
  )
}

const rounded = (value: number, digits: number) => value.toFixed(digits).replace(/\.0+$/, '')
