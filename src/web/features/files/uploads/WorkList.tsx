import { useDispatch } from 'react-redux'
import type { FileJob } from '../../../../contract/file'
import type { AppDispatch } from '../../../app/types'
import { useCancelFileJobMutation, useGetFileJobsQuery } from '../../../api/files'
import type { ApiFailure } from '../../../api/failure'
import { failureText } from '../../../api/failure'
import { reasonOf, reportProblem } from '../../../api/reportProblem'
import { counted } from '../../../ui/counted'
import { formatBytes } from '../../../ui/formatBytes'
import { nameOf } from '../sharedPath'
import type { Work } from '../worksSlice'
import { ProgressBar } from './ProgressBar'

/** In milliseconds. */
const POLL_MS = 1000

const isSame = ({ kind, paths }: FileJob, work: Work) =>
  kind === work.kind && paths.length === work.paths.length && paths.every((path, at) => path === work.paths[at])

/** How far what is packed and unpacked from here is, where the server says so; elsewhere, that it goes on. */
export function WorkList({ works }: { works: Work[] }) {
  const { data: jobs, error } = useGetFileJobsQuery(undefined, { refetchOnMountOrArgChange: true })
  const isUnknown = (error as ApiFailure | undefined)?.status === 404
  // No polls of what is not there.
  useGetFileJobsQuery(undefined, { pollingInterval: POLL_MS, skip: isUnknown })
  const [cancel, { originalArgs: cancelling, isError: isRefused }] = useCancelFileJobMutation()
  const dispatch = useDispatch<AppDispatch>()

  const onCancel = async (id: string) => {
    const { error: refusal } = await cancel(id)
    if (refusal)
      dispatch(reportProblem('Failed to cancel', reasonOf(refusal), failureText(refusal, 'Failed to cancel')))
  }

  return works.map((work) => {
    const job = jobs?.find((candidate) => isSame(candidate, work))
    const [path = ''] = work.paths
    const what = work.paths.length === 1 ? nameOf(path) : counted(work.paths.length, 'item')
    const isEnding = job !== undefined && cancelling === job.id && !isRefused
    return (
      <li key={work.id} className="transfer working">
        <div className="transfer-text">
          <bdi title={what}>
            {work.kind === 'archive' ? 'Archiving' : 'Unarchiving'} {what}
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
