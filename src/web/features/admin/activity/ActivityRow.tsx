import { Link } from 'react-router-dom'
import type { ActivityEntry } from '../../../../contract/admin'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { activityKinds } from './activityKinds'
import { failureInWords } from './failures'
import type { FindLinks } from './useActivityLinks'
import adminStyles from '../admin.module.scss'
import styles from './activity.module.scss'

export function ActivityRow({ entry, links }: { entry: ActivityEntry; links: FindLinks }) {
  const { at, username, kind, action, subject, address, succeeded, api_key, failure } = entry
  const userLink = username === null ? undefined : links.userLink(username)
  const subjectLink = links.subjectLink(entry)
  const origin = `${address}${api_key === undefined ? '' : ` with the API key "${api_key}"`}`
  return (
    <li className={`${adminStyles.row} ${styles.row}`}>
      <p className={styles.who} title={username ?? undefined}>
        {userLink ? <Link to={userLink}>{username}</Link> : (username ?? 'Anonymous')}
      </p>
      <p className={styles.what} title={subject === null ? undefined : `${action} ${subject}`}>
        {action}
        {subject !== null && (
          <>
            {' '}
            {subjectLink ? (
              <Link to={subjectLink} className={styles.subject}>
                {subject}
              </Link>
            ) : (
              <span className={styles.subject}>{subject}</span>
            )}
          </>
        )}
      </p>
      {!succeeded && (
        <p className={styles.result}>
          <span className={styles.failed}>Failed</span>
          {failure !== undefined && `: ${failureInWords(failure)}`}
        </p>
      )}
      <div className={styles.trace}>
        {/* A newer server may send kinds that this console does not know. */}
        <p className={styles.kind}>{activityKinds[kind] ?? kind}</p>
        <p className={styles.origin} title={origin}>
          <span className={adminStyles.word}>from </span>
          {origin}
        </p>
        <p className={styles.when}>
          <TimeAgo time={at} />
        </p>
      </div>
    </li>
  )
}
