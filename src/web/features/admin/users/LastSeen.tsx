import type { User } from '../../../../contract/admin'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import adminStyles from '../admin.module.scss'

/** The platform forgets with the last session when a user was there. */
export function LastSeen({ user: { last_seen } }: { user: User }) {
  if (last_seen === undefined) return <>not seen lately</>
  return (
    <>
      <span className={adminStyles.word}>seen </span>
      <TimeAgo time={Date.parse(last_seen)} />
    </>
  )
}
