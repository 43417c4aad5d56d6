import { useEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { formatBytes } from '../../../ui/formatBytes'
import { Icon } from '../../../ui/Icon'
import { useSignOutGuard } from '../../../ui/useSignOutGuard'
import { selectWorks } from '../worksSlice'
import { ConflictDialog } from './ConflictDialog'
import { ProgressBar } from './ProgressBar'
import { timeLeft } from './timeLeft'
import { SignOutDialog } from './SignOutDialog'
import { UploadRow } from './UploadRow'
import type { UploadStatus } from './uploadSlice'
import {
  allCancelled,
  cleared,
  panelRested,
  panelToggled,
  selectIsOpen,
  selectIsSignOutAsked,
  selectRate,
  selectUploads,
  selectUploadState,
  signOutAsked,
} from './uploadSlice'
import { useDockHeight } from './useDockHeight'
import { useRest } from './useRest'
import { WorkList } from './WorkList'
import './transfers.scss'

/** Of all uploads the ones that tell something come first, and no more than anybody reads. */
const ROWS = 50
const order: UploadStatus[] = ['sending', 'failed', 'asking', 'waiting', 'done', 'cancelled', 'skipped']

/** Uploads, and what is packed and unpacked, on whatever page the user is. */
export function TransferPanel() {
  const uploads = useSelector(selectUploads)
  const works = useSelector(selectWorks)
  const isOpen = useSelector(selectIsOpen)
  const rate = useSelector(selectRate)
  const { uploading, count, done, total, sent, progress } = useSelector(selectUploadState)
  const isSignOutAsked = useSelector(selectIsSignOutAsked)
  const dispatch = useDispatch()

  useEffect(() => {
    if (!uploading) return
    const onBeforeUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', onBeforeUnload)
    return () => window.removeEventListener('beforeunload', onBeforeUnload)
  }, [uploading])

  const panel = useRef<HTMLElement>(null)
  useDockHeight(panel)
  const isFinished = uploads.length > 0 && !uploading && works.length === 0
  useRest(panel, isOpen && isFinished && uploads.every(({ status }) => status !== 'failed'), () =>
    dispatch(panelRested()),
  )

  useSignOutGuard(uploading, () => dispatch(signOutAsked()))

  const asking = uploads.filter(({ status }) => status === 'asking')
  const [asked] = asking
  const shown =
    uploads.length <= ROWS
      ? uploads
      : order.flatMap((status) => uploads.filter((upload) => upload.status === status)).slice(0, ROWS)
  const left = timeLeft(total - sent, rate)
  const summary = `${done} of ${count} uploaded`
  const title = uploads.length === 0 ? 'Archives' : uploading ? 'Uploading files' : 'Uploads'

  return (
    <section ref={panel} className="transfers panel" aria-label="Transfers">
      <div className="transfers-head">
        <button
          type="button"
          className="transfers-title"
          aria-expanded={isOpen}
          onClick={() => dispatch(panelToggled())}
        >
          <Icon name="chevron" />
          {title}
        </button>
        {isFinished && !isOpen && <span className="transfers-summary">{summary}</span>}
        {uploading && (
          <button type="button" className="text-button" onClick={() => dispatch(allCancelled())}>
            Cancel all
          </button>
        )}
        {!uploading && uploads.length > 0 && (
          <button type="button" className="transfer-button" aria-label="Close" onClick={() => dispatch(cleared())}>
            <Icon name="close" />
          </button>
        )}
      </div>
      {uploads.length > 0 && (isOpen || uploading) && (
        <div className="transfers-total">
          <ProgressBar label="Total progress" done={progress * 1000} total={1000} />
          <p>
            <span role="status">{summary}</span>
            <span>
              {formatBytes(sent)} of {formatBytes(total)}
              {uploading && rate > 0 && `, ${formatBytes(Math.round(rate))}/s`}
              {uploading && left && `, ${left} left`}
            </span>
          </p>
        </div>
      )}
      {isOpen && (
        <ul className="transfers-list">
          {works.length > 0 && <WorkList works={works} />}
          {shown.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
          {shown.length < uploads.length && (
            <li className="transfers-more">and {uploads.length - shown.length} more</li>
          )}
        </ul>
      )}
      {asked && (
        <ConflictDialog upload={asked} others={asking.filter(({ batch }) => batch === asked.batch).length - 1} />
      )}
      {isSignOutAsked && <SignOutDialog />}
    </section>
  )
}
