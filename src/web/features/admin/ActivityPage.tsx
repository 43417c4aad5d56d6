import { useSelector } from 'react-redux'
import { useGetActivityInfiniteQuery } from '../../api/admin'
import { failureDetail, isNotOffered } from '../../api/failure'
import { BusyButton } from '../../ui/BusyButton'
import { LoadFailure } from '../../ui/LoadFailure'
import { ActivityFilters } from './ActivityFilters'
import { ActivityRow } from './ActivityRow'
import { selectActivityFilter } from './adminSlice'
import { Empty } from './Empty'
import { ListSkeleton } from './ListSkeleton'
import { useDebounced } from './useDebounced'
import './admin.scss'
import './activity.scss'

/** Of no typing, before the server is asked. In milliseconds. */
const PAUSE_MS = 300

/** What was done with the platform, and by whom. For administrators. */
export function ActivityPage() {
  return (
    <>
      <title>Activity · Quarterdeck</title>
      <div className="page-head admin-head">
        <h1>Activity</h1>
      </div>
      <ActivityLog />
    </>
  )
}

function ActivityLog() {
  const { kind, search } = useSelector(selectActivityFilter)
  const wanted = useDebounced(search.trim(), PAUSE_MS)
  const {
    data,
    currentData,
    error,
    isFetching,
    isFetchingNextPage,
    isFetchNextPageError,
    hasNextPage,
    fetchNextPage,
    refetch,
  } = useGetActivityInfiniteQuery(
    { ...(kind && { kind }), ...(wanted && { search: wanted }) },
    { refetchOnMountOrArgChange: true },
  )
  // What another filter found stays until this one has an answer, so that nothing jumps; it is no answer itself.
  const entries = (currentData ?? (error ? undefined : data))?.pages.flatMap((page) => page.entries)
  const filtered = kind !== null || wanted !== ''

  if (error && isNotOffered(error)) return <Empty>This server does not offer an activity log.</Empty>
  return (
    <>
      <ActivityFilters busy={isFetching} onRefresh={refetch} />
      {!entries?.length && !currentData && !error && <ListSkeleton label="Loading the activity" />}
      {currentData && entries?.length === 0 && (
        <Empty>{filtered ? 'Nothing matches these filters' : 'Nothing has happened yet'}</Empty>
      )}
      {entries && entries.length > 0 && (
        <ul className="panel admin-list" aria-busy={isFetching}>
          {entries.map((entry) => (
            <ActivityRow key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      {/* Below what is there: it is what is older that could not be had. */}
      {error && (
        <LoadFailure
          title="Failed to load the activity"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={isFetchNextPageError ? fetchNextPage : refetch}
        />
      )}
      {hasNextPage && !error && (
        <div className="activity-older">
          <BusyButton
            variant="outline-secondary"
            busy={isFetchingNextPage}
            busyText="Loading..."
            onClick={() => !isFetchingNextPage && void fetchNextPage()}
          >
            Load older
          </BusyButton>
        </div>
      )}
      {entries && entries.length > 0 && !hasNextPage && !error && (
        <p className="activity-end">That is all. Entries are kept for 90 days.</p>
      )}
    </>
  )
}
