import type { ActivityEntry } from '../../../../contract/admin'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { activityKinds } from './activityKinds'
import adminStyles from '../admin.module.scss'
import styles from './activity.module.scss'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function ActivityRow({
  entry: { at, username, kind, action, subject, address, succeeded, api_key },
}: {
  entry: ActivityEntry
}) {
  return (
    <li
      className={succeeded ? `${adminStyles.row} ${styles.row}` : `${adminStyles.row} ${styles.row} ${styles.failed}`}
    >
      <div className={styles.what}>
        <p>
          <strong>{username ?? 'Somebody'}</strong> {action}
          {subject !== null && (
            <>
              {' '}
              <span className={styles.subject}>{subject}</span>
            </>
          )}
          {!succeeded && (
            <>
              {' '}
              <span className={`${adminStyles.tag} ${adminStyles.failed}`}>Failed</span>
            </>
          )}
        </p>
        <p className={styles.trace}>
          {/* A newer server may send kinds that this console does not know. */}
          {activityKinds[kind] ?? kind} · from {address}
          {api_key !== undefined && ` · with the API key "${api_key}"`}
        </p>
      </div>
      <div className={styles.when}>
        <TimeAgo time={at} />
        <span>{exact.format(at)}</span>
      </div>
    </li>
  )
}
