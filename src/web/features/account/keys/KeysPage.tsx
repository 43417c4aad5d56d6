import { useEffect, useRef, useState } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { useGetApiKeysQuery } from '../../../api/keys'
import { useCreateParameter } from '../../../ui/useCreateParameter'
import { failureDetail, isNotOffered } from '../../../failure'
import { ActionIcon } from '../../../ui/ActionIcon'
import { EmptyState } from '../../../ui/EmptyState'
import { LoadFailure } from '../../../ui/LoadFailure'
import { useFocusFallback } from '../../../ui/useFocusFallback'
import { CreatedKeyDialog } from './CreatedKeyDialog'
import { CreateKeyDialog } from './CreateKeyDialog'
import { DeleteKeyDialog } from './DeleteKeyDialog'
import { KeyList } from './KeyList'
import { keyCreationStarted, keyDeletionRequested, keyDialogClosed, selectKeyDialog } from './keysSlice'
import styles from './keys.module.scss'

/** The signed-in user's own API keys. */
export function KeysPage() {
  const { data, error, isFetching, refetch } = useGetApiKeysQuery(undefined, { refetchOnMountOrArgChange: true })
  const dialog = useSelector(selectKeyDialog)
  // A secret: it stays in component state.
  const [created, setCreated] = useState<{ name: string; secret: string }>()
  const dispatch = useDispatch()
  const page = useRef<HTMLDivElement>(null)

  useFocusFallback(page, dialog !== null || created !== undefined)
  useEffect(() => () => void dispatch(keyDialogClosed()), [dispatch])
  useCreateParameter(() => dispatch(keyCreationStarted()))

  return (
    <div ref={page} className={styles.page} tabIndex={-1}>
      <title>API keys · Quarterdeck</title>
      <div className="page-head">
        <h1>API keys</h1>
        <Button className="with-icon" onClick={() => dispatch(keyCreationStarted())}>
          <ActionIcon name="plus" />
          Create API key
        </Button>
        <p className="page-summary">
          Programs sign in with a key instead of a password and a code. A key can never do more than you.
        </p>
      </div>
      {error && isNotOffered(error) && <EmptyState>This server does not offer API keys.</EmptyState>}
      {error && !isNotOffered(error) && (
        <LoadFailure
          title="Failed to load your API keys"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {!data && !error && <KeysSkeleton />}
      {data?.length === 0 && <EmptyState>You have no API keys yet</EmptyState>}
      {data && data.length > 0 && <KeyList keys={data} onDelete={({ id }) => dispatch(keyDeletionRequested(id))} />}
      {dialog?.kind === 'create' && <CreateKeyDialog creation={dialog} onCreated={setCreated} />}
      {dialog?.kind === 'delete' && <DeleteKeyDialog id={dialog.id} />}
      {created && <CreatedKeyDialog {...created} onClose={() => setCreated(undefined)} />}
    </div>
  )
}

function KeysSkeleton() {
  return (
    <div className={`placeholder-glow panel ${styles.list}`} role="status">
      <span className="visually-hidden">Loading your API keys</span>
      {[1, 2].map((row) => (
        <span key={row} className={styles.row} aria-hidden="true">
          <span className={`placeholder ${styles.skeleton}`} />
        </span>
      ))}
    </div>
  )
}
