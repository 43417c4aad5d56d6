import type { ReactNode } from 'react'
import { useEffect, useId } from 'react'
import CloseButton from 'react-bootstrap/CloseButton'
import { useDispatch } from 'react-redux'
import { Link } from 'react-router-dom'
import type { ListedDeployment } from '../../api/deployments'
import { useGetFilesQuery } from '../../api/files'
import { Icon } from '../../ui/Icon'
import { configurationAddress, filesAddress } from '../../addresses'
import { DeploymentToggle } from './DeploymentToggle'
import type { Guide } from './deploymentsSlice'
import { guideClosed } from './deploymentsSlice'
import styles from './creationGuide.module.scss'

/** The steps from a new deployment to its first start. Closes itself after the last step. */
export function CreationGuide({ guide, deployment }: { guide: Guide; deployment: ListedDeployment }) {
  const { name, path, dataDirectory, enabled } = deployment
  const { data: listing } = useGetFilesQuery(path, { refetchOnMountOrArgChange: true, refetchOnFocus: true })
  const dispatch = useDispatch()
  const id = useId()
  const hasFiles = listing !== undefined && listing.files.length > 0
  const isDone = hasFiles && guide.isConfigured && enabled

  useEffect(() => {
    if (isDone) dispatch(guideClosed())
  }, [isDone, dispatch])

  return (
    <section className={`${styles.guide} panel`} aria-labelledby={id}>
      <div className={styles.guideHead}>
        <h2 id={id}>Three steps to start {name}</h2>
        <CloseButton aria-label="Dismiss" title="Dismiss" onClick={() => dispatch(guideClosed())} />
      </div>
      <ol>
        <Step done={hasFiles} text="Put its files there">
          <Link to={filesAddress(dataDirectory)}>Open its directory</Link>
        </Step>
        <Step done={guide.isConfigured} text="Set its command">
          <Link to={configurationAddress(name)}>Open its configuration</Link>
        </Step>
        <Step done={enabled} text="Enable it">
          <DeploymentToggle deployment={deployment} label="Enabled" />
        </Step>
      </ol>
    </section>
  )
}

function Step({ done, text, children }: { done: boolean; text: string; children: ReactNode }) {
  return (
    <li className={done ? styles.stepDone : undefined}>
      <span className={styles.stepMark}>{done && <Icon name="check" size={14} />}</span>
      <div className={styles.step}>
        <span>
          {text}
          {done && <span className="visually-hidden"> (done)</span>}
        </span>
        {children}
      </div>
    </li>
  )
}
