import type { ActivityEntry } from '../../../../contract/admin'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { activityKinds } from './activityKinds'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function ActivityRow({
  entry: { at, username, kind, action, subject, address, succeeded },
}: {
  entry: ActivityEntry
}) {
  return (
    <li className={succeeded ? 'admin-row activity-row' : 'admin-row activity-row failed'}>
      <div className="activity-what">
        <p>
          <strong>{username ?? 'Somebody'}</strong> {action}
          {subject !== null && (
            <>
              {' '}
              <span className="activity-subject">{subject}</span>
            </>
          )}
          {!succeeded && (
            <>
              {' '}
              <span className="admin-tag failed">Failed</span>
            </>
          )}
        </p>
        <p className="activity-trace">
          {/* A newer server may send kinds that this console does not know. */}
          {activityKinds[kind] ?? kind} · from {address}
        </p>
      </div>
      <div className="activity-when">
        <TimeAgo time={at} />
        <span>{exact.format(at)}</span>
      </div>
    </li>
  )
}
