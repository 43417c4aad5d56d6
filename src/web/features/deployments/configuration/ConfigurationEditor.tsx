import { useEffect, useState } from 'react'
import { Link, useParams } from 'react-router-dom'
import { useGetDeploymentConfigQuery } from '../../../api/deployments'
import { useAppDispatch } from '../../../app/hooks'
import type { ApiFailure } from '../../../failure'
import { Notice } from '../../../ui/Notice'
import { guideOpened } from '../keptGuide'
import { ConfigurationForm } from './ConfigurationForm'
import { ConfigurationHead } from './ConfigurationHead'
import { EditorSkeleton } from './EditorSkeleton'
import { FailureBanner } from './FailureBanner'
import styles from './configuration.module.scss'

export function ConfigurationEditor() {
  const { name = '' } = useParams()
  // The key remounts the editor for another deployment, so that no state of one shows in the other.
  return <Configuration key={name} name={name} />
}

function Configuration({ name }: { name: string }) {
  const {
    data: stored,
    error,
    isFetching,
    refetch,
  } = useGetDeploymentConfigQuery(name, { refetchOnMountOrArgChange: true })
  const [dismissed, setDismissed] = useState<unknown>()
  const dispatch = useAppDispatch()

  useEffect(() => {
    // Loads the creation guide, because a save is one of its steps.
    dispatch(guideOpened())
  }, [dispatch])

  if (stored === undefined && (error as ApiFailure | undefined)?.status === 404)
    return <UnknownDeployment name={name} />
  const failure = error && error !== dismissed && (
    <FailureBanner
      title="Failed to load deployment configuration content"
      error={error}
      onDismiss={() => setDismissed(error)}
    />
  )
  return (
    <div className={styles.configuration}>
      <title>{`${name} · Configuration · Quarterdeck`}</title>
      {stored === undefined ? (
        <>
          <ConfigurationHead name={name} />
          {failure}
          {error ? (
            <section className={`${styles.editorPanel} ${styles.missing} panel`}>
              <button
                type="button"
                className="btn btn-outline-secondary"
                aria-disabled={isFetching}
                onClick={() => !isFetching && refetch()}
              >
                Retry
              </button>
            </section>
          ) : (
            <EditorSkeleton />
          )}
        </>
      ) : (
        <ConfigurationForm name={name} stored={stored} failure={failure} onReload={refetch} />
      )}
    </div>
  )
}

function UnknownDeployment({ name }: { name: string }) {
  return (
    <Notice
      title="Deployment Not Found"
      icon="compass"
      actions={
        <Link to="/deployments" className="btn btn-primary">
          Back to Deployments
        </Link>
      }
    >
      <title>Deployment Not Found · Quarterdeck</title>
      <p role="alert">Failed to load deployment configuration content</p>
      <p>There is no deployment named &quot;{name}&quot;. It may have been deleted.</p>
    </Notice>
  )
}
