import { useEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { formatBytes } from '../../../ui/formatBytes'
import { Icon } from '../../../ui/Icon'
import { oncePerPress } from '../../../ui/oncePerPress'
import { useSignOutGuard } from '../../../ui/leave/useSignOutGuard'
import { selectArchiveJobs } from '../archiveJobsSlice'
import { UploadConflictDialog } from './UploadConflictDialog'
import { ProgressBar } from './ProgressBar'
import { SignOutDialog } from './SignOutDialog'
import { UploadRow } from './UploadRow'
import type { UploadStatus } from './uploadSlice'
import {
  allUploadsCancelled,
  endedUploadsCleared,
  panelAutoCollapsed,
  panelToggled,
  selectIsOpen,
  selectIsSignOutAsked,
  selectRate,
  selectUploads,
  selectUploadState,
  signOutRequested,
} from './uploadSlice'
import { useDockHeight } from './useDockHeight'
import { useIdle } from './useIdle'
import { ArchiveJobList } from './ArchiveJobList'
import styles from './transfers.module.scss'

/** At most this many rows are rendered, sorted by status so that active and failed uploads come first. */
const ROWS = 50
const statusOrder: UploadStatus[] = ['sending', 'failed', 'asking', 'waiting', 'done', 'cancelled', 'skipped']

/** Shows uploads and archive jobs, on every page. */
export function TransferPanel() {
  const uploads = useSelector(selectUploads)
  const archiveJobs = useSelector(selectArchiveJobs)
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
  const isFinished = uploads.length > 0 && !uploading && archiveJobs.length === 0
  useIdle(panel, isOpen && isFinished && uploads.every(({ status }) => status !== 'failed'), () =>
    dispatch(panelAutoCollapsed()),
  )

  useSignOutGuard(uploading, () => dispatch(signOutRequested()))

  const asking = uploads.filter(({ status }) => status === 'asking')
  const [asked] = asking
  const shown =
    uploads.length <= ROWS
      ? uploads
      : statusOrder.flatMap((status) => uploads.filter((upload) => upload.status === status)).slice(0, ROWS)
  const left = timeLeft(total - sent, rate)
  const summary = `${done} of ${count} uploaded`
  const title = uploads.length === 0 ? 'Archives' : uploading ? 'Uploading files' : 'Uploads'

  return (
    <section ref={panel} className={`${styles.transfers} panel`} aria-label="Transfers" data-dock="transfers">
      <div className={styles.head}>
        <button type="button" className={styles.title} aria-expanded={isOpen} onClick={() => dispatch(panelToggled())}>
          <Icon name="chevron" />
          {title}
        </button>
        {isFinished && !isOpen && <span className={styles.summary}>{summary}</span>}
        {uploading && (
          <button type="button" className="text-button" onClick={() => dispatch(allUploadsCancelled())}>
            Cancel all
          </button>
        )}
        {!uploading && uploads.length > 0 && (
          <button
            type="button"
            className={styles.button}
            aria-label="Close"
            {...oncePerPress(() => dispatch(endedUploadsCleared()))}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
      {uploads.length > 0 && (isOpen || uploading) && (
        <div className={styles.total}>
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
        <ul className={styles.list}>
          {archiveJobs.length > 0 && <ArchiveJobList archiveJobs={archiveJobs} />}
          {shown.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
          {shown.length < uploads.length && <li className={styles.more}>and {uploads.length - shown.length} more</li>}
        </ul>
      )}
      {asked && (
        <UploadConflictDialog upload={asked} others={asking.filter(({ batch }) => batch === asked.batch).length - 1} />
      )}
      {isSignOutAsked && <SignOutDialog />}
    </section>
  )
}

/** Formats the remaining time: `9s`, `4m 10s`, `2h 5m`. Returns undefined if the rate is not known. */
function timeLeft(bytes: number, bytesPerSecond: number): string | undefined {
  if (bytesPerSecond <= 0) return undefined
  const seconds = Math.ceil(bytes / bytesPerSecond)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}
