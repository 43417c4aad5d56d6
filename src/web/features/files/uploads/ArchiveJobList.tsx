import type { FileJob } from '../../../../contract/file'
import { useAppDispatch } from '../../../app/hooks'
import { useCancelFileJobMutation, useGetFileJobsQuery } from '../../../api/archives'
import type { ApiFailure } from '../../../failure'
import { failureText } from '../../../failure'
import { failureReason, reportProblem } from '../../../api/reportProblem'
import { usePollingInterval } from '../../../api/transport/usePollingInterval'
import { counted } from '../../../ui/counted'
import { formatBytes } from '../../../ui/formatBytes'
import { baseName } from '../sharedPath'
import type { ArchiveJob } from '../archiveJobsSlice'
import { ProgressBar } from './ProgressBar'
import styles from './transfers.module.scss'

const POLL_MS = 1000

const isSame = ({ kind, paths }: FileJob, archiveJob: ArchiveJob) =>
  kind === archiveJob.kind &&
  paths.length === archiveJob.paths.length &&
  paths.every((path, at) => path === archiveJob.paths[at])

/** Shows the progress of archive jobs started here. A server without job progress gets an indeterminate bar. */
export function ArchiveJobList({ archiveJobs }: { archiveJobs: ArchiveJob[] }) {
  const { data: jobs, error } = useGetFileJobsQuery(undefined, { refetchOnMountOrArgChange: true })
  const isUnknown = (error as ApiFailure | undefined)?.status === 404
  // Polling stops if the server has no such call.
  useGetFileJobsQuery(undefined, { pollingInterval: usePollingInterval(POLL_MS), skip: isUnknown })
  const [cancel, { originalArgs: cancelling, isError: isRefused }] = useCancelFileJobMutation()
  const dispatch = useAppDispatch()

  const onCancel = async (id: string) => {
    const { error: refusal } = await cancel(id)
    if (refusal)
      dispatch(reportProblem('Failed to cancel', failureReason(refusal), failureText(refusal, 'Failed to cancel')))
  }

  return archiveJobs.map((archiveJob) => {
    const job = jobs?.find((candidate) => isSame(candidate, archiveJob))
    const [path = ''] = archiveJob.paths
    const what = archiveJob.paths.length === 1 ? baseName(path) : counted(archiveJob.paths.length, 'item')
    const isEnding = job !== undefined && cancelling === job.id && !isRefused
    return (
      <li key={archiveJob.id} className={styles.transfer}>
        <div className={styles.text}>
          <bdi title={what}>
            {archiveJob.kind === 'archive' ? 'Archiving' : 'Unarchiving'} {what}
          </bdi>
          <small>
            {isEnding
              ? 'Cancelling...'
              : job && job.total !== null
                ? `${formatBytes(job.done)} of ${formatBytes(job.total)} ${job.entry}`
                : (job?.entry ?? 'Working...')}
          </small>
          <ProgressBar label={`Progress of ${what}`} done={job?.done ?? 0} total={job?.total ?? null} />
        </div>
        {job && (
          <button
            type="button"
            className="text-button"
            aria-label={`Cancel ${what}`}
            aria-disabled={isEnding}
            onClick={() => !isEnding && onCancel(job.id)}
          >
            Cancel
          </button>
        )}
      </li>
    )
  })
}
