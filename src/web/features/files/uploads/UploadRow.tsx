import { useDispatch } from 'react-redux'
import { ActionIcon } from '../../../ui/ActionIcon'
import { formatBytes } from '../../../ui/formatBytes'
import { Icon } from '../../../ui/Icon'
import { oncePerPress } from '../../../ui/oncePerPress'
import { ProgressBar } from './ProgressBar'
import type { Upload } from './uploadSlice'
import { isActive, uploadCancelled, uploadRetried } from './uploadSlice'
import styles from './transfers.module.scss'

const statusTexts: Record<Upload['status'], string> = {
  waiting: 'Waiting',
  sending: 'Uploading',
  asking: 'Exists already',
  done: 'Uploaded',
  failed: 'Failed',
  cancelled: 'Cancelled',
  skipped: 'Skipped',
}

export function UploadRow({ upload: { id, name, size, sent, status, problem } }: { upload: Upload }) {
  const dispatch = useDispatch()
  const canRetry = status === 'failed' || status === 'cancelled'
  return (
    <li className={`${styles.transfer} ${styles[status] ?? ''}`}>
      <div className={styles.text}>
        <bdi title={name}>{name}</bdi>
        <small>
          {problem ?? statusTexts[status]}
          {status === 'sending' ? ` ${formatBytes(sent)} of ${formatBytes(size)}` : ''}
        </small>
        {status === 'sending' && <ProgressBar label={`Progress of ${name}`} done={sent} total={size} />}
      </div>
      {/* One button for both, which keeps the focus. */}
      {(canRetry || isActive(status)) && (
        <button
          type="button"
          className={styles.button}
          aria-label={`${canRetry ? 'Retry' : 'Cancel'} ${name}`}
          {...oncePerPress(() => dispatch(canRetry ? uploadRetried(id) : uploadCancelled(id)))}
        >
          {canRetry ? <ActionIcon name="restart" /> : <Icon name="close" />}
        </button>
      )}
      {status === 'done' && <Icon name="check" />}
    </li>
  )
}
