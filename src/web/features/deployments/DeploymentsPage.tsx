import { useEffect, useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import { failureDetail } from '../../failure'
import { useGetDeploymentsQuery } from '../../api/deployments'
import { useAccess } from '../../api/useAccess'
import { DraftHints } from '../../drafts/DraftHints'
import { ActionIcon } from '../../ui/ActionIcon'
import { LoadFailure } from '../../ui/LoadFailure'
import { useFocusFallback } from '../../ui/useFocusFallback'
import { CreateDeploymentDialog } from './CreateDeploymentDialog'
import { DeleteDeploymentDialog } from './DeleteDeploymentDialog'
import { DeploymentsSection } from './DeploymentsSection'
import { DeploymentsSkeleton } from './DeploymentsSkeleton'
import type { Deployment } from '../../../contract/deployment'
import { counted } from '../../ui/counted'
import { creationStarted, dialogClosed, selectDialog } from './deploymentsSlice'
import { typeOf } from './deploymentType'
import styles from './deployments.module.scss'

export function DeploymentsPage() {
  const { data, error, isFetching, refetch } = useGetDeploymentsQuery(undefined, {
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
  })
  const { isLimited } = useAccess()
  const dialog = useSelector(selectDialog)
  const dispatch = useDispatch()

  const page = useRef<HTMLDivElement>(null)
  useFocusFallback(page, dialog !== null, headingOf)
  useEffect(() => () => void dispatch(dialogClosed()), [dispatch])

  const proxies = data?.filter(({ typeIndex }) => typeOf(typeIndex) === 'proxy') ?? []
  const games = data?.filter(({ typeIndex }) => ['persistent', 'scalable'].includes(typeOf(typeIndex) ?? '')) ?? []
  // Types that this console does not know are listed here too.
  const processes = data?.filter((deployment) => !proxies.includes(deployment) && !games.includes(deployment)) ?? []

  return (
    <div ref={page}>
      <title>Deployments · Quarterdeck</title>
      <div className={`page-head ${styles.head}`}>
        <h1 tabIndex={-1}>Deployments</h1>
        {!isLimited && (
          <Button className="with-icon" onClick={() => dispatch(creationStarted('persistent'))}>
            <ActionIcon name="plus" />
            Create Deployment
          </Button>
        )}
        <DeploymentsSummary deployments={data} />
      </div>
      <DraftHints
        kind="configuration"
        renderText={(name) => `You have unsaved changes to the configuration of ${name}`}
        renderAction={({ name }) => (
          <Link className="btn btn-sm btn-primary" to={`/deployments/${encodeURIComponent(name)}/edit`}>
            Open
          </Link>
        )}
      />
      {error && (
        <LoadFailure
          title="Failed to load deployments"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {!data && !error && <DeploymentsSkeleton />}
      {data && (
        <>
          <DeploymentsSection
            title="Proxy"
            deployments={proxies}
            empty="No Proxy Found"
            create="Create Proxy"
            type="proxy"
          />
          <DeploymentsSection
            title="Games"
            deployments={games}
            empty="No Games Found"
            create="Create Game"
            type="persistent"
          />
          <DeploymentsSection
            title="Processes"
            deployments={processes}
            empty="No Processes Found"
            create="Create Process"
            type="process"
          />
        </>
      )}
      {dialog?.kind === 'create' && <CreateDeploymentDialog creation={dialog} />}
      {dialog?.kind === 'delete' && <DeleteDeploymentDialog name={dialog.name} />}
    </div>
  )
}

/** Always rendered, so that the layout does not move when the answer arrives. */
function DeploymentsSummary({ deployments }: { deployments: Deployment[] | undefined }) {
  const active = deployments?.filter(({ enabled }) => enabled).length
  return (
    <p className="page-summary">{deployments && `${counted(deployments.length, 'deployment')} · ${active} active`}</p>
  )
}

const headingOf = (page: HTMLElement) => page.querySelector('h1')
