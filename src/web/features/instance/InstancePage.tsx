import { useLocation, useParams } from 'react-router-dom'
import type { Instance } from '../../../contract/instance'
import { failureText } from '../../failure'
import { useGetInstancesQuery } from '../../api/instances'
import { usePollingInterval } from '../../api/transport/usePollingInterval'
import '../../sockets/consoleSocket'
import './console/consoleListeners'
import { InstanceMissing } from './InstanceMissing'
import { InstanceView } from './InstanceView'

/** The same interval as the overview's. */
const POLL_MS = 3000

export function InstancePage() {
  const { deploymentName = '', instanceUid = '' } = useParams()
  const { state } = useLocation() as { state: { instance?: Instance } | null }
  // `currentData`, because `data` would still be that of the previous deployment.
  const {
    currentData: data,
    error,
    isFetching,
    refetch,
  } = useGetInstancesQuery(deploymentName, {
    pollingInterval: usePollingInterval(POLL_MS),
    skipPollingIfUnfocused: true,
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
  })
  // The instance that the overview passed on is shown until the first response.
  const passed = state?.instance?.uid === instanceUid ? state.instance : undefined
  const instance = data ? data.find(({ uid }) => uid === instanceUid) : passed
  const isUnknown = (data && !instance) || (!data && error && 'status' in error && error.status === 404)

  if (isUnknown || (error && !instance)) {
    return <InstanceMissing failure={isUnknown ? undefined : error} busy={isFetching} onRetry={refetch} />
  }
  return (
    <InstanceView
      key={instanceUid}
      deployment={deploymentName}
      uid={instanceUid}
      instance={instance}
      problem={error && failureText(error, 'Failed to fetch network data')}
    />
  )
}
