import { useEffect, useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import { failureDetail } from '../../api/failure'
import { useGetDeploymentsQuery } from '../../api/deployments'
import { DraftHints } from '../../drafts/DraftHints'
import { ActionIcon } from '../../ui/ActionIcon'
import { LoadFailure } from '../../ui/LoadFailure'
import { useKeptFocus } from '../../ui/useKeptFocus'
import { CreateDialog } from './CreateDialog'
import { DeleteDialog } from './DeleteDialog'
import { DeploymentsSection } from './DeploymentsSection'
import { DeploymentsSkeleton } from './DeploymentsSkeleton'
import { DeploymentsSummary } from './DeploymentsSummary'
import { creationStarted, dialogClosed, selectDialog } from './deploymentsSlice'
import { typeOf } from './deploymentType'
import './deployments.scss'

export function DeploymentsPage() {
  const { data, error, isFetching, refetch } = useGetDeploymentsQuery(undefined, {
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
  })
  const dialog = useSelector(selectDialog)
  const dispatch = useDispatch()

  const page = useRef<HTMLDivElement>(null)
  useKeptFocus(page, dialog !== null, headingOf)
  useEffect(() => () => void dispatch(dialogClosed()), [dispatch])

  const proxies = data?.filter(({ typeIndex }) => typeOf(typeIndex) === 'proxy') ?? []
  const games = data?.filter(({ typeIndex }) => ['persistent', 'scalable'].includes(typeOf(typeIndex) ?? '')) ?? []
  // What this console has no name for shows here: better than nowhere.
  const processes = data?.filter((deployment) => !proxies.includes(deployment) && !games.includes(deployment)) ?? []

  return (
    <div ref={page}>
      <title>Deployments · Quarterdeck</title>
      <div className="page-head deployments-head">
        <h1 tabIndex={-1}>Deployments</h1>
        <Button className="with-icon" onClick={() => dispatch(creationStarted('persistent'))}>
          <ActionIcon name="plus" />
          Create Deployment
        </Button>
        <DeploymentsSummary deployments={data} />
      </div>
      <DraftHints
        kind="configuration"
        text={(name) => `You have unsaved changes to the configuration of ${name}`}
        open={({ name }) => (
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
      {dialog?.kind === 'create' && <CreateDialog creation={dialog} />}
      {dialog?.kind === 'delete' && <DeleteDialog name={dialog.name} />}
    </div>
  )
}

const headingOf = (page: HTMLElement) => page.querySelector('h1')
