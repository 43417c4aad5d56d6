import type { User } from '../../../../contract/admin'
import { TimeAgo } from '../../../ui/time/TimeAgo'

/** The platform forgets with the last session when a user was there. */
export function LastSeen({ user: { last_seen } }: { user: User }) {
  if (last_seen === undefined) return <>not seen lately</>
  return (
    <>
      seen <TimeAgo time={Date.parse(last_seen)} />
    </>
  )
}
