import type { User } from '../../../../contract/admin'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import adminStyles from '../admin.module.scss'

/** The platform derives the time from sessions and API keys, so it is unknown without any. */
export function LastSeen({ user: { last_seen } }: { user: User }) {
  if (last_seen === undefined) return <>not seen recently</>
  return (
    <>
      <span className={adminStyles.word}>seen </span>
      <TimeAgo time={Date.parse(last_seen)} />
    </>
  )
}
