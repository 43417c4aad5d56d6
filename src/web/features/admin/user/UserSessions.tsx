import { useDispatch } from 'react-redux'
import { useGetUserSessionsQuery } from '../../../api/users'
import { deviceOf } from '../../../ui/deviceOf'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { dialogOpened } from '../adminSlice'
import { EmptyState } from '../../../ui/EmptyState'
import { Section } from './Section'
import adminStyles from '../admin.module.scss'
import styles from './user.module.scss'

export function UserSessions({ id }: { id: number }) {
  const query = useGetUserSessionsQuery(id, { refetchOnMountOrArgChange: true, refetchOnFocus: true })
  const dispatch = useDispatch()
  const sessions = query.data?.toSorted((a, b) => b.last_used_at.localeCompare(a.last_used_at)) ?? []

  const endAll = sessions.length > 1 && (
    <button
      type="button"
      className={`${adminStyles.action} ${adminStyles.danger}`}
      onClick={() => dispatch(dialogOpened({ kind: 'endSessions', id }))}
    >
      End all
    </button>
  )
  return (
    <Section title="Sessions" action={endAll} query={query} what="the sessions">
      {sessions.length === 0 ? (
        <EmptyState>No open sessions</EmptyState>
      ) : (
        <ul className={`panel ${adminStyles.list} ${adminStyles.panelList}`}>
          {sessions.map(({ id: sessionId, device, address, last_used_at, current }) => (
            <li key={sessionId} className={`${adminStyles.row} ${styles.row}`}>
              <div>
                <p className={styles.name} title={device || undefined}>
                  {deviceOf(device)}
                  {current && <span className={adminStyles.tag}>This session</span>}
                </p>
                <p className={styles.trace}>
                  {address} · used <TimeAgo time={Date.parse(last_used_at)} />
                </p>
              </div>
              {!current && (
                <button
                  type="button"
                  className={`${adminStyles.action} ${adminStyles.danger}`}
                  aria-label={`End the session of ${deviceOf(device)} at ${address}`}
                  onClick={() => dispatch(dialogOpened({ kind: 'endSessions', id, of: sessionId }))}
                >
                  End
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
