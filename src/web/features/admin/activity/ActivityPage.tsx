import { useSelector } from 'react-redux'
import { useSearchParams } from 'react-router-dom'
import { useGetActivityInfiniteQuery } from '../../../api/activity'
import { failureDetail, isNotOffered } from '../../../failure'
import { BusyButton } from '../../../ui/form/BusyButton'
import { LoadFailure } from '../../../ui/LoadFailure'
import { ActivityDays } from './ActivityDays'
import { ActivityFilters } from './ActivityFilters'
import { selectActivityFilter } from '../adminSlice'
import { EmptyState } from '../../../ui/EmptyState'
import { ListSkeleton } from '../ListSkeleton'
import { useDebounced } from '../useDebounced'
import adminStyles from '../admin.module.scss'
import styles from './activity.module.scss'

/** Debounce of the search. */
const DEBOUNCE_MS = 300

/** Shows who did what on the platform. For administrators. */
export function ActivityPage() {
  return (
    <>
      <title>Activity · Quarterdeck</title>
      <div className={`page-head ${adminStyles.head}`}>
        <h1>Activity</h1>
      </div>
      <ActivityLog />
    </>
  )
}

function ActivityLog() {
  const { kind, hours, search } = useSelector(selectActivityFilter)
  const username = useSearchParams()[0].get('username') ?? ''
  const wanted = useDebounced(search.trim(), DEBOUNCE_MS)
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
    {
      ...(kind && { kind }),
      ...(username && { username }),
      ...(hours !== null && { hours }),
      ...(wanted && { search: wanted }),
    },
    { refetchOnMountOrArgChange: true },
  )
  // The result of the previous filter stays visible until the new one arrives, so that the layout does not jump.
  const entries = (currentData ?? (error ? undefined : data))?.pages.flatMap((page) => page.entries)
  const filtered = kind !== null || hours !== null || username !== '' || wanted !== ''

  if (error && isNotOffered(error)) return <EmptyState>This server does not offer an activity log.</EmptyState>
  return (
    <>
      <ActivityFilters username={username} busy={isFetching} onRefresh={refetch} />
      {!entries?.length && !currentData && !error && <ListSkeleton label="Loading the activity" />}
      {currentData && entries?.length === 0 && (
        <EmptyState>{filtered ? 'Nothing matches these filters' : 'Nothing has happened yet'}</EmptyState>
      )}
      {entries && entries.length > 0 && <ActivityDays entries={entries} busy={isFetching} />}
      {/* Below the list, because the older entries failed to load. */}
      {error && (
        <LoadFailure
          title="Failed to load the activity"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={isFetchNextPageError ? fetchNextPage : refetch}
        />
      )}
      {hasNextPage && !error && (
        <div className={styles.older}>
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
        <p className={styles.end}>There are no older entries. Entries are kept for 90 days.</p>
      )}
    </>
  )
}
