import type { ReactNode } from 'react'
import type { Instance } from '../../../contract/instance'
import { missingRight, useAccess } from '../../api/useAccess'
import { playerCountOf } from '../../instanceState'
import { CopyButton } from '../../ui/copy/CopyButton'
import { TimeAgo } from '../../ui/time/TimeAgo'
import { CrashCapsulePanel } from './CrashCapsulePanel'
import styles from './details.module.scss'

export function DetailsTab({ deployment, instance }: { deployment: string; instance: Instance }) {
  const {
    uid,
    podName,
    ip,
    port,
    node,
    players,
    startedAt,
    restarts,
    lastExit,
    lateStart,
    draining,
    warnings,
    blockedReason,
    crashedAt,
  } = instance
  const mayReadCrash = useAccess().may('console', deployment)
  const names = Object.entries(players ?? {})
  return (
    <div className={styles.details}>
      <section className={`panel ${styles.section}`} aria-labelledby="details-title">
        <h2 id="details-title">Instance Details</h2>
        <dl>
          {warnings?.map((warning) => (
            <Row key={warning} term="Warning">
              <span className={styles.warning}>{warning}</span>
            </Row>
          ))}
          {blockedReason !== undefined && <Row term="Blocked because">{blockedReason}</Row>}
          {draining && (
            <Row term="Draining">
              It gets no new players, and stops when the last player leaves or its time limit ends
            </Row>
          )}
          {lateStart && (
            <Row term="Not ready yet">{`After ${lateStart.afterSeconds} s it still waits for ${lateStart.waitingFor}`}</Row>
          )}
          <Row term="Pod name" copy={podName}>
            {podName}
          </Row>
          <Row term="IP" copy={ip}>
            {ip || '–'}
          </Row>
          {port !== undefined && <Row term="Port">{port}</Row>}
          {node !== undefined && <Row term="Node">{node}</Row>}
          <Row term="Player count">
            {playerCountOf(instance) === null ? 'Unknown: the server does not answer' : (playerCountOf(instance) ?? 0)}
          </Row>
          {names.length > 0 && (
            <Row term="Players">
              <ul className={styles.playerList}>
                {names.map(([id, name]) => (
                  <li key={id}>{name}</li>
                ))}
              </ul>
            </Row>
          )}
          {startedAt !== undefined && (
            <Row term="Started">
              <TimeAgo time={startedAt} />
            </Row>
          )}
          {restarts !== undefined && <Row term="Restarts after crashes">{restarts}</Row>}
          {lastExit && <Row term="Last exit code">{lastExit.code ?? lastExit.signal ?? '–'}</Row>}
          {lastExit && (
            <Row term="Last exit reason">
              {lastExit.reason} (<TimeAgo time={lastExit.at} />)
            </Row>
          )}
          {crashedAt !== undefined && !mayReadCrash && <Row term="Last crash">{missingRight('console')}</Row>}
        </dl>
      </section>
      {crashedAt !== undefined && mayReadCrash && (
        <CrashCapsulePanel deployment={deployment} uid={uid} name={instance.name} crashedAt={crashedAt} />
      )}
    </div>
  )
}

/** `copy` is a text that is often needed elsewhere. */
function Row({ term, copy, children }: { term: string; copy?: string; children: ReactNode }) {
  return (
    <div className={styles.row}>
      <dt>{term}</dt>
      <dd>
        {children}
        {copy && <CopyButton text={copy} label={`Copy the ${term === 'IP' ? term : term.toLowerCase()}`} />}
      </dd>
    </div>
  )
}
