import { useLayoutEffect } from 'react'
import { useSelector } from 'react-redux'
import { usePolledOverview } from '../../api/network'
import { useAppDispatch } from '../../app/hooks'
import { failureHint, failureText } from '../../failure'
import { LoadFailure } from '../../ui/LoadFailure'
import { countByFilter, listAttention } from './warnings/attention'
import { AttentionPanel } from './warnings/AttentionPanel'
import { DeploymentList } from './DeploymentList'
import { NetworkWarnings } from './warnings/NetworkWarnings'
import { NoDeployments } from './NoDeployments'
import { recallPreferences } from './overviewPreferences'
import { OverviewSkeleton } from './OverviewSkeleton'
import type { View } from './overviewSlice'
import { selectView } from './overviewSlice'
import { OverviewSummary } from './OverviewSummary'
import { OverviewToolbar } from './OverviewToolbar'
import { OverviewTotals } from './OverviewTotals'
import { SelectionBar } from './SelectionBar'
import { StatusBadge } from './StatusBadge'

/** The maximum number of instances shown as cards, and as rows of normal height, until the user chooses. */
const MAX_CARDS = 12
const MAX_ROWS = 24

export function OverviewPage() {
  const { data, error, isFetching, fulfilledTimeStamp, refetch } = usePolledOverview()
  const silentSince = data?.clusterSilentSince
  const failed =
    error !== undefined ||
    data?.managerSilent ||
    silentSince !== undefined ||
    data?.sections.some((section) => section.failure)
  const chosenView = useSelector(selectView)
  const dispatch = useAppDispatch()
  // A layout effect, because the first paint would otherwise show the default view.
  useLayoutEffect(() => void dispatch(recallPreferences()), [dispatch])

  const sections = data?.sections ?? []
  const counts = countByFilter(sections)
  const view = chosenView ?? defaultView(counts.all)

  return (
    <>
      <title>Network Overview · Quarterdeck</title>
      <div className="page-head">
        <h1>Network Overview</h1>
        <StatusBadge isFetching={isFetching} isFirst={!data && !error} failed={Boolean(failed)} />
        <OverviewSummary overview={data} since={silentSince ?? (error ? fulfilledTimeStamp : undefined)} />
      </div>
      {!data && !error && <OverviewSkeleton />}
      {error && (
        <LoadFailure
          title="Failed to Load Data"
          detail={failureText(error, 'Failed to fetch network data')}
          hint={failureHint(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {data && <NetworkWarnings {...data} />}
      {data?.sections.length === 0 && <NoDeployments />}
      {sections.length > 0 && (
        <>
          <OverviewTotals sections={sections} isCompact={view === 'compact'} />
          <AttentionPanel items={listAttention(sections)} />
          <OverviewToolbar names={sections.map(({ deployment }) => deployment.name)} counts={counts} view={view} />
          <DeploymentList sections={sections} view={view} />
          <SelectionBar sections={sections} />
        </>
      )}
    </>
  )
}

function defaultView(instances: number): View {
  if (instances <= MAX_CARDS) return 'cards'
  return instances <= MAX_ROWS ? 'rows' : 'compact'
}
