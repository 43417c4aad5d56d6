import { useGetOverviewQuery } from '../../api/network'
import { DeploymentSection } from './DeploymentSection'
import { DiskWarning } from './DiskWarning'
import { failureHint, failureText } from '../../failure'
import { LoadFailure } from '../../ui/LoadFailure'
import { ManagerSilent } from './ManagerSilent'
import { NoDeployments } from './NoDeployments'
import { OverviewSkeleton } from './OverviewSkeleton'
import { OverviewSummary } from './OverviewSummary'
import { StatusBadge } from './StatusBadge'

const POLL_MS = 3000

export function OverviewPage() {
  const { data, error, isFetching, fulfilledTimeStamp, refetch } = useGetOverviewQuery(undefined, {
    pollingInterval: POLL_MS,
    skipPollingIfUnfocused: true,
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
  })
  const failed = error !== undefined || data?.managerSilent || data?.sections.some((section) => section.failure)

  return (
    <>
      <title>Network Overview · Quarterdeck</title>
      <div className="page-head">
        <h1>Network Overview</h1>
        <StatusBadge isFetching={isFetching} isFirst={!data && !error} failed={Boolean(failed)} />
        <OverviewSummary overview={data} since={error ? fulfilledTimeStamp : undefined} />
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
      {data?.managerSilent && <ManagerSilent />}
      {data?.disks?.map((disk) => (
        <DiskWarning key={disk.name} {...disk} />
      ))}
      {data?.sections.length === 0 && <NoDeployments />}
      {data?.sections.map((section) => (
        <DeploymentSection key={section.deployment.name} {...section} />
      ))}
    </>
  )
}
