import { useEffect, useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import { failureDetail } from '../../failure'
import type { ListedDeployment } from '../../api/deployments'
import { deploymentsApi, useGetDeploymentsQuery } from '../../api/deployments'
import { useAccess } from '../../api/useAccess'
import { usePollingInterval } from '../../api/transport/usePollingInterval'
import { useAppDispatch } from '../../app/hooks'
import { useCreateParameter } from '../../ui/useCreateParameter'
import { selectInterruption } from '../../deploymentPower/interruptionSlice'
import { DraftHints } from '../../drafts/DraftHints'
import { ActionIcon } from '../../ui/ActionIcon'
import { counted } from '../../ui/counted'
import { EmptyState } from '../../ui/EmptyState'
import { LoadFailure } from '../../ui/LoadFailure'
import { SearchField } from '../../ui/SearchField'
import { useFocusFallback } from '../../ui/useFocusFallback'
import { configurationAddress } from '../../addresses'
import { CreateDeploymentDialog } from './CreateDeploymentDialog'
import { CreationGuide } from './CreationGuide'
import { DeleteDeploymentDialog } from './DeleteDeploymentDialog'
import { DeploymentsSection } from './DeploymentsSection'
import { DeploymentsSkeleton } from './DeploymentsSkeleton'
import { creationStarted, dialogClosed, filtered, selectDialog, selectFilter, selectGuide } from './deploymentsSlice'
import { appearances, typeOf } from './deploymentType'
import { guideOpened } from './keptGuide'
import styles from './deployments.module.scss'

const POLL_MS = 5000
/** The number of deployments from which a search is shown. */
const SEARCHED_FROM = 9

const sections = [
  { title: 'Proxy', empty: 'No Proxy Found', create: 'Create Proxy', type: 'proxy' },
  { title: 'Games', empty: 'No Games Found', create: 'Create Game', type: 'persistent' },
  { title: 'Processes', empty: 'No Processes Found', create: 'Create Process', type: 'process' },
] as const

export function DeploymentsPage() {
  const { data, error, isFetching, refetch } = useDeployments()
  const { isLimited } = useAccess()
  const dialog = useSelector(selectDialog)
  const guide = useSelector(selectGuide)
  const typed = useSelector(selectFilter)
  const dispatch = useAppDispatch()

  const page = useRef<HTMLDivElement>(null)
  const isAsked = useSelector(selectInterruption) !== null
  useFocusFallback(page, dialog !== null || isAsked, headingOf)
  useEffect(() => {
    dispatch(guideOpened())
    return () => void dispatch(dialogClosed())
  }, [dispatch])

  const canSearch = data !== undefined && data.length >= SEARCHED_FROM
  const filter = canSearch ? typed.trim().toLowerCase() : ''
  const found = data?.filter((deployment) => matches(deployment, filter))
  const created = guide && data?.find(({ name }) => name === guide.name)

  useCreateParameter(() => {
    if (!isLimited) dispatch(creationStarted('persistent'))
  })

  return (
    <div ref={page}>
      <title>Deployments · Quarterdeck</title>
      <div className={styles.head}>
        <div>
          <h1 tabIndex={-1}>Deployments</h1>
          <DeploymentsSummary deployments={data} />
        </div>
        {canSearch && (
          <SearchField label="Search deployments" text={typed} onChange={(text) => dispatch(filtered(text))} />
        )}
        {!isLimited && (
          <Button className="with-icon" onClick={() => dispatch(creationStarted('persistent'))}>
            <ActionIcon name="plus" />
            Create Deployment
          </Button>
        )}
      </div>
      <DraftHints
        kind="configuration"
        renderText={(name) => `You have unsaved changes to the configuration of ${name}`}
        renderAction={({ name }) => (
          <Link className="btn btn-sm btn-primary" to={configurationAddress(name)}>
            Open
          </Link>
        )}
      />
      {guide && created && <CreationGuide guide={guide} deployment={created} />}
      {error && (
        <LoadFailure
          title="Failed to load deployments"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {!data && !error && <DeploymentsSkeleton />}
      {found?.length === 0 && filter !== '' ? (
        <EmptyState
          action={
            <Button variant="outline-secondary" size="sm" onClick={() => dispatch(filtered(''))}>
              Clear the search
            </Button>
          }
        >
          No deployment matches &quot;{typed.trim()}&quot;
        </EmptyState>
      ) : (
        found &&
        sections.map((section) => {
          const deployments = found.filter((deployment) => sectionOf(deployment) === section.title)
          // A section that is empty only because of the search is hidden, with its create button.
          return (
            (filter === '' || deployments.length > 0) && (
              <DeploymentsSection key={section.title} {...section} deployments={deployments} />
            )
          )
        })
      )}
      {dialog?.kind === 'create' && <CreateDeploymentDialog creation={dialog} />}
      {dialog?.kind === 'delete' && <DeleteDeploymentDialog name={dialog.name} />}
    </div>
  )
}

/** Polls if the server sends counts of instances. The list itself rarely changes. */
function useDeployments() {
  const { hasCounts } = deploymentsApi.endpoints.getDeployments.useQueryState(undefined, {
    selectFromResult: ({ data }) => ({ hasCounts: data?.some(({ counts }) => counts !== undefined) === true }),
  })
  return useGetDeploymentsQuery(undefined, {
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
    pollingInterval: usePollingInterval(hasCounts ? POLL_MS : 0),
    skipPollingIfUnfocused: true,
  })
}

/** Always rendered, so that the layout does not move when the response arrives. */
function DeploymentsSummary({ deployments }: { deployments: ListedDeployment[] | undefined }) {
  const active = deployments?.filter(({ enabled }) => enabled).length
  return (
    <p className="page-summary">{deployments && `${counted(deployments.length, 'deployment')} · ${active} active`}</p>
  )
}

/** Types that this console does not know are listed as processes. */
function sectionOf({ typeIndex }: ListedDeployment): (typeof sections)[number]['title'] {
  const type = typeOf(typeIndex)
  if (type === 'proxy') return 'Proxy'
  return type === 'persistent' || type === 'scalable' ? 'Games' : 'Processes'
}

function matches({ name, path, description = '', typeIndex }: ListedDeployment, filter: string): boolean {
  const type = typeOf(typeIndex)
  return [name, path, description, type ? appearances[type].name : ''].some((text) =>
    text.toLowerCase().includes(filter),
  )
}

const headingOf = (page: HTMLElement) => page.querySelector('h1')
