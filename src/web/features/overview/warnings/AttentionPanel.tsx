import { useDispatch } from 'react-redux'
import { Link } from 'react-router-dom'
import type { Instance } from '../../../../contract/instance'
import { TRIED_AGAIN } from '../../../../contract/pageRules'
import { useAccess } from '../../../api/useAccess'
import { failureText } from '../../../failure'
import { counted } from '../../../ui/counted'
import { useCountdown } from '../../../ui/time/useNow'
import { configurationAddress, filesAddress, instanceAddress } from '../../../addresses'
import type { AttentionItem } from './attention'
import { filterChosen } from '../overviewSlice'
import { countPlayers } from '../totals'
import styles from './attention.module.scss'

const MAX_SHOWN = 6

export function AttentionPanel({ items }: { items: AttentionItem[] }) {
  const dispatch = useDispatch()
  if (items.length === 0) return null
  return (
    <section className={styles.attention} aria-labelledby="attention-title">
      <h2 id="attention-title">
        Needs attention <span>{items.length}</span>
      </h2>
      <ul className="panel">
        {items.slice(0, MAX_SHOWN).map((item) => (
          <li key={item.kind === 'unreachable' ? item.deployment.name : item.instance.uid}>
            <Item {...item} />
          </li>
        ))}
        {items.length > MAX_SHOWN && (
          <li className={styles.more}>
            <button type="button" className="text-button" onClick={() => dispatch(filterChosen('attention'))}>
              Show all {items.length} below
            </button>
          </li>
        )}
      </ul>
    </section>
  )
}

function Item(item: AttentionItem) {
  const { deployment } = item
  const { may } = useAccess()
  const instance = item.kind === 'unreachable' ? undefined : item.instance
  const id = instance?.name.split('-')[0]
  const { tone, state, why, remedy } = describe(item)
  return (
    <>
      <span className={`state ${tone}`}>
        {instance?.retry && item.kind === 'crashing' ? <Countdown {...instance.retry} /> : state}
      </span>
      {instance ? (
        <Link className={styles.who} to={instanceAddress(deployment.name, instance.uid)} state={{ instance }}>
          {deployment.name} <span className={styles.id}>{id}</span>
        </Link>
      ) : (
        <span className={styles.who}>{deployment.name}</span>
      )}
      <span className={styles.why}>{why}</span>
      {remedy === 'files' && may('files', deployment.name) && (
        <Link className={styles.remedy} to={filesAddress(deployment.dataDirectory)}>
          Open files of {deployment.name}
        </Link>
      )}
      {remedy === 'configuration' && may('configuration', deployment.name) && (
        <Link className={styles.remedy} to={configurationAddress(deployment.name)}>
          Edit {deployment.name}
        </Link>
      )}
    </>
  )
}

type Description = {
  tone: 'blocked' | 'changing'
  state: string
  why: string
  /** The page where the user can fix the cause, if known. */
  remedy?: 'files' | 'configuration'
}

function describe(item: AttentionItem): Description {
  switch (item.kind) {
    case 'unreachable':
      return { tone: 'blocked', state: 'Unknown', why: failureText(item.failure, 'Failed to fetch network data') }
    case 'unknown':
      return { tone: 'blocked', state: 'Unknown', why: `The server reports the state ${item.instance.state}` }
    case 'blocked':
      return { tone: 'blocked', state: 'Blocked', ...describeBlocked(item.instance) }
    case 'crashing':
      return { tone: 'changing', state: 'Crashed', why: describeCrashes(item.instance) }
    case 'late':
      return {
        tone: 'changing',
        state: 'Not ready',
        why: `After ${item.instance.lateStart?.afterSeconds} s it still waits for ${item.instance.lateStart?.waitingFor}`,
      }
    case 'draining':
      return { tone: 'changing', state: 'Draining', why: describeDraining(item.instance) }
  }
}

/** Matches the platform's reasons. For those of another server there is no remedy. */
function describeBlocked({ blockedReason = '', type }: Instance): Pick<Description, 'why' | 'remedy'> {
  if (blockedReason.endsWith(TRIED_AGAIN)) return { why: blockedReason }
  const again = type === 'process' ? 'Restart its deployment to try again.' : 'Start it to try again.'
  const why = blockedReason ? `${blockedReason.replace(/([^.!?])$/, '$1.')} ${again}` : again
  if (blockedReason.startsWith('Jar file not found!')) return { why, remedy: 'files' }
  if (/^Port \d+ is taken/.test(blockedReason)) return { why, remedy: 'configuration' }
  return { why }
}

function describeCrashes({ retry, lastExit }: Instance): string {
  const tries = retry && `Try ${retry.attempt} of ${retry.of}`
  return [lastExit?.reason, tries].filter(Boolean).join('. ')
}

function describeDraining(instance: Instance): string {
  const { count } = countPlayers([instance])
  return count ? `${counted(count, 'player')} left; no new ones join` : 'No new players join'
}

/** The remaining time until the restart. */
function Countdown({ inMs }: NonNullable<Instance['retry']>) {
  const seconds = useCountdown(inMs)
  return <>{seconds > 0 ? `Restarting in ${seconds} s` : 'Restarting'}</>
}
