import { useDispatch } from 'react-redux'
import { ActionIcon } from '../../../ui/ActionIcon'
import { formatBytes } from '../../../ui/formatBytes'
import { Icon } from '../../../ui/Icon'
import { ProgressBar } from './ProgressBar'
import type { Upload } from './uploadSlice'
import { cancelled, retried } from './uploadSlice'

const words: Record<Upload['status'], string> = {
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
  const isUnder = status === 'waiting' || status === 'sending' || status === 'asking'
  return (
    <li className={`transfer ${status}`}>
      <div className="transfer-text">
        <bdi title={name}>{name}</bdi>
        <small>
          {problem ?? words[status]}
          {status === 'sending' ? ` ${formatBytes(sent)} of ${formatBytes(size)}` : ''}
        </small>
        {status === 'sending' && <ProgressBar label={`Progress of ${name}`} done={sent} total={size} />}
      </div>
      {isUnder && (
        <button
          type="button"
          className="transfer-button"
          aria-label={`Cancel ${name}`}
          onClick={() => dispatch(cancelled(id))}
        >
          <Icon name="close" />
        </button>
      )}
      {(status === 'failed' || status === 'cancelled') && (
        <button
          type="button"
          className="transfer-button"
          aria-label={`Retry ${name}`}
          onClick={() => dispatch(retried(id))}
        >
          <ActionIcon name="restart" />
        </button>
      )}
      {status === 'done' && <Icon name="check" />}
    </li>
  )
}
