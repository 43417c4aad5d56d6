import Button from 'react-bootstrap/Button'
import { useDispatch } from 'react-redux'
import type { Listing } from '../../api/files'
import { ActionIcon } from '../../ui/ActionIcon'
import { RefreshButton } from '../../ui/pageHead/RefreshButton'
import { creationStarted } from './filesSlice'
import { SyncIndicator } from './SyncIndicator'
import { UploadButton } from './uploads/UploadButton'
import styles from './files.module.scss'

type FilesToolbarProps = {
  directory: string
  listing: Listing | undefined
  busy: boolean
  usable: boolean
  onRefresh: () => unknown
}

/** Type index (product §3). Instances of this type work in the directory itself, so there is nothing to synchronise. */
const PERSISTENT = 1
const MISSING = 'There is no such directory.'

export function FilesToolbar({ directory, listing, busy, usable, onRefresh }: FilesToolbarProps) {
  const dispatch = useDispatch()
  return (
    <div className={styles.toolbar} role="group" aria-label="Directory tools">
      {listing && listing.deploymentTypeIndex !== PERSISTENT && <SyncIndicator />}
      <RefreshButton busy={busy} onRefresh={onRefresh} />
      <UploadButton directory={directory} disabledBecause={usable ? undefined : MISSING} />
      <Button
        className="with-icon"
        aria-disabled={!usable}
        title={usable ? undefined : MISSING}
        onClick={() => usable && dispatch(creationStarted())}
      >
        <ActionIcon name="plus" />
        Create New
      </Button>
    </div>
  )
}
