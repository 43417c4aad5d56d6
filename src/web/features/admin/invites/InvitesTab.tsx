import { useMemo, useState } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch } from 'react-redux'
import { failureDetail } from '../../../failure'
import { useGetInviteCodesQuery } from '../../../api/admin'
import { ActionIcon } from '../../../ui/ActionIcon'
import { LoadFailure } from '../../../ui/LoadFailure'
import { dialogOpened } from '../adminSlice'
import { EmptyState } from '../../../ui/EmptyState'
import { keyInvites } from './inviteKey'
import { InviteRow } from './InviteRow'
import { ListSkeleton } from '../ListSkeleton'
import { SearchField } from '../../../ui/SearchField'
import styles from '../admin.module.scss'

export function InvitesTab() {
  const { data, error, isFetching, refetch } = useGetInviteCodesQuery(undefined, {
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
  })
  // The search text may be an invite code, which is a secret: it stays in component state.
  const [search, setSearch] = useState('')
  const dispatch = useDispatch()
  const invites = useMemo(() => data && keyInvites(data), [data])
  const wanted = search.trim().toLowerCase()
  const shown = invites?.filter(({ code, message, used_by }) =>
    [code, message, used_by ?? ''].some((text) => text.toLowerCase().includes(wanted)),
  )
  const create = () => dispatch(dialogOpened({ kind: 'createInvite', message: '' }))

  return (
    <>
      <div className={styles.bar}>
        <Button className="with-icon" onClick={create}>
          <ActionIcon name="plus" />
          Create Invite Code
        </Button>
        <SearchField label="Search invite codes" text={search} onChange={setSearch} />
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
      {invites?.length === 0 && <EmptyState>No invite codes yet. Who has one can create an account.</EmptyState>}
      {invites && invites.length > 0 && shown?.length === 0 && (
        <EmptyState>No invite code matches your search</EmptyState>
      )}
      {shown && shown.length > 0 && (
        <ul className={`panel ${styles.list}`}>
          {shown.map((invite) => (
            <InviteRow key={invite.code} invite={invite} />
          ))}
        </ul>
      )}
    </>
  )
}
