import { Suspense } from 'react'
import { lazyOnDemand } from '../../chunks'
import type { Instance } from '../../../contract/instance'
import { missingRight, useAccess } from '../../api/useAccess'
import { BlockedBanner } from './BlockedBanner'
import { ConsoleTab } from './console/ConsoleTab'
import { DetailsTab } from './DetailsTab'
import { InstanceCards } from './InstanceCards'
import { InstanceHead } from './InstanceHead'
import { InstanceTabs, panelOf, useTab } from './InstanceTabs'
import { MetricsSkeleton } from './metrics/MetricsSkeleton'
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

/** Without an instance, renders the layout while the first response is loading. */
export function InstanceView({ deployment, uid, instance, problem }: InstanceViewProps) {
  const [tab, chooseTab] = useTab()
  const { may } = useAccess()
  const mayRead = may('console', deployment)
  // The power buttons use the connection too.
  useConsole(deployment, mayRead || may('power', deployment) ? instance?.podName : undefined, instance?.state)
  const name = instance?.name ?? ''

  return (
    <div className={styles.page}>
      <title>{name ? `${name} · Quarterdeck` : 'Instance · Quarterdeck'}</title>
      <InstanceHead deployment={deployment} instance={instance} problem={problem} />
      {instance?.state === 'BLOCKED' && (
        <BlockedBanner deployment={deployment} instance={instance} onDetails={() => chooseTab('details')} />
      )}
      <InstanceCards instance={instance} />
      <InstanceTabs tab={tab} onChoose={chooseTab} />
      <div {...panelOf(tab)} className={`${styles.tabPanel} ${styles[tab] ?? ''}`}>
        {tab === 'console' && !mayRead && (
          <p className={styles.noConsole}>{missingRight('console')}. An administrator can give it to you.</p>
        )}
        {tab === 'console' && mayRead && <ConsoleTab uid={uid} name={name} plainCommands={instance?.plainCommands} />}
        {tab === 'metrics' && (
          <Suspense fallback={<MetricsSkeleton />}>
            {instance ? <MetricsTab podName={instance.podName} limits={instance.limits} /> : <MetricsSkeleton />}
          </Suspense>
        )}
        {tab === 'details' && instance && <DetailsTab deployment={deployment} instance={instance} />}
      </div>
    </div>
  )
}
