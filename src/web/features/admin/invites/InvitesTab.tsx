import { useMemo, useState } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { failureDetail } from '../../../failure'
import { useGetInviteCodesQuery, useGetUsersQuery } from '../../../api/admin'
import { ActionIcon } from '../../../ui/ActionIcon'
import { LoadFailure } from '../../../ui/LoadFailure'
import { inviteStatusChosen, selectInviteFilter } from '../adminSlice'
import { EmptyState } from '../../../ui/EmptyState'
import { keyInvites } from './inviteKey'
import { inviteStatus } from './inviteStatus'
import { InviteRow } from './InviteRow'
import { ListSkeleton } from '../ListSkeleton'
import { SearchField } from '../../../ui/SearchField'
import { StatusFilter } from './StatusFilter'
import adminStyles from '../admin.module.scss'
import styles from './invites.module.scss'

export function InvitesTab({ onInvite }: { onInvite: () => void }) {
  const { data, error, isFetching, refetch } = useGetInviteCodesQuery(undefined, {
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
  })
  // Names of users link to their pages. Without this list they are plain texts.
  const { data: users } = useGetUsersQuery()
  // The search text may be an invite code, which is a secret: it stays in component state.
  const [search, setSearch] = useState('')
  const filter = useSelector(selectInviteFilter)
  const dispatch = useDispatch()
  const invites = useMemo(() => data && keyInvites(data), [data])
  const wanted = search.trim().toLowerCase()
  const found = invites?.filter(({ code, message, used_by }) =>
    [code, message, used_by ?? ''].some((text) => text.toLowerCase().includes(wanted)),
  )
  const shown = found?.filter((invite) => filter === null || inviteStatus(invite) === filter)

  return (
    <>
      <div className={`${adminStyles.bar} ${styles.bar}`}>
        <SearchField label="Search invite codes" text={search} onChange={setSearch} />
        {found && invites && invites.length > 0 && (
          <StatusFilter
            statuses={found.map(inviteStatus)}
            chosen={filter}
            onChoose={(status) => dispatch(inviteStatusChosen(status))}
          />
        )}
        <Button className={`with-icon ${adminStyles.main}`} onClick={onInvite}>
          <ActionIcon name="plus" />
          Create Invite Code
        </Button>
      </div>
      {error && (
        <LoadFailure
          title="Failed to load invite codes"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {!invites && !error && <ListSkeleton label="Loading the invite codes" />}
      {invites?.length === 0 && <EmptyState>No invite codes yet. Each lets one person create an account.</EmptyState>}
      {invites && invites.length > 0 && shown?.length === 0 && (
        <EmptyState>
          {found?.length === 0
            ? 'No invite code matches your search'
            : `No invite code ${wanted === '' ? '' : 'of those found '}is ${filter?.toLowerCase()}`}
        </EmptyState>
      )}
      {shown && shown.length > 0 && (
        <div className={`panel ${adminStyles.table} ${adminStyles.wide}`}>
          {/* Each cell has its own label, which is visible where there are no columns. */}
          <div className={`${adminStyles.columns} ${styles.row}`} aria-hidden="true">
            <span>Status</span>
            <span>Message</span>
            <span>Code</span>
            <span>Gives</span>
            <span>Use</span>
            <span>Created</span>
          </div>
          <ul className={adminStyles.list}>
            {shown.map((invite) => (
              <InviteRow
                key={invite.code}
                invite={invite}
                userId={users?.find(({ username }) => username === invite.used_by)?.id}
              />
            ))}
          </ul>
        </div>
      )}
    </>
  )
}
