import { Suspense } from 'react'
import { Link } from 'react-router-dom'
import { lazyOnDemand } from '../../chunks'
import type { Instance } from '../../../contract/instance'
import { missingRight, useAccess } from '../../api/useAccess'
import { ConsoleTab } from './console/ConsoleTab'
import { DetailsTab } from './DetailsTab'
import { InstanceCards } from './InstanceCards'
import { InstanceTabs, panelOf, useTab } from './InstanceTabs'
import { MetricsSkeleton } from './metrics/MetricsSkeleton'
import { PowerButtons } from './PowerButtons'
import { ToolIcon } from './console/log/ToolIcon'
import { useConsole } from './console/useConsole'
import styles from './instance.module.scss'

// A chunk of its own: the charts are as large as the rest of the console.
const MetricsTab = lazyOnDemand(
  async () => (await import(/* webpackChunkName: 'instance-metrics' */ './metrics/MetricsTab')).MetricsTab,
)

type InstanceViewProps = {
  deployment: string
  uid: string
  instance: Instance | undefined
  problem: string | undefined
}

/** Without an instance, renders the layout while the first answer is loading. */
export function InstanceView({ deployment, uid, instance, problem }: InstanceViewProps) {
  const [tab, chooseTab] = useTab()
  const { may } = useAccess()
  const mayRead = may('console', deployment)
  // The power buttons use the connection too.
  useConsole(deployment, mayRead || may('power', deployment) ? instance?.podName : undefined, instance?.state)
  const name = instance?.name ?? ''

  return (
    <>
      <title>{name ? `${name} · Quarterdeck` : 'Instance · Quarterdeck'}</title>
      <div className={`page-head ${styles.pageHead}`}>
        <div className={styles.title}>
          <Link
            to="/"
            className={`btn btn-outline-secondary ${styles.backButton}`}
            aria-label="Back to home"
            title="Back to home"
          >
            <ToolIcon name="back" size={18} />
          </Link>
          <div>
            <h1>{name || <span className="visually-hidden">Loading the instance</span>}</h1>
            <p className={problem ? 'page-summary failed' : 'page-summary'} role={problem ? 'alert' : undefined}>
              {problem
                ? `${problem}. Showing what was known before.`
                : instance?.description || `Deployment ${deployment}`}
            </p>
          </div>
        </div>
        {instance && <PowerButtons {...instance} />}
      </div>
      <InstanceCards instance={instance} />
      <InstanceTabs tab={tab} onChoose={chooseTab} />
      <div {...panelOf(tab)} className={styles.tabPanel}>
        {tab === 'console' && !mayRead && (
          <p className={styles.noConsole}>{missingRight('console')}. An administrator can give it to you.</p>
        )}
        {tab === 'console' && mayRead && <ConsoleTab uid={uid} name={name} plainCommands={instance?.plainCommands} />}
        {tab === 'metrics' && (
          <Suspense fallback={<MetricsSkeleton />}>
            {instance ? <MetricsTab podName={instance.podName} /> : <MetricsSkeleton />}
          </Suspense>
        )}
        {tab === 'details' && instance && <DetailsTab deployment={deployment} instance={instance} />}
      </div>
    </>
  )
}
