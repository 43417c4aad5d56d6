import type { ComponentType } from 'react'
import { useEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Link, useSearchParams } from 'react-router-dom'
import { ActionIcon } from '../../ui/ActionIcon'
import { panelId, tabId, TabList } from '../../ui/TabList'
import { useFocusFallback } from '../../ui/useFocusFallback'
import { AdminDialogs } from './AdminDialogs'
import { dialogClosed, selectDialog } from './adminSlice'
import { DashboardTab } from './dashboard/DashboardTab'
import { InvitesTab } from './invites/InvitesTab'
import { UsersTab } from './users/UsersTab'
import styles from './admin.module.scss'

const TABS = [
  { key: 'users', title: 'User Management' },
  { key: 'invites', title: 'Invite Codes' },
  { key: 'dashboard', title: 'Kubernetes Dashboard' },
] as const
type Tab = (typeof TABS)[number]

const panels: Record<Tab['key'], ComponentType> = {
  users: UsersTab,
  invites: InvitesTab,
  dashboard: DashboardTab,
}

export function AdminTabs() {
  const [parameters, setParameters] = useSearchParams()
  const dispatch = useDispatch()
  const { key, title } = TABS.find((tab) => tab.key === parameters.get('tab')) ?? TABS[0]
  const Panel = panels[key]
  const panel = useRef<HTMLDivElement>(null)

  useFocusFallback(panel, useSelector(selectDialog) !== null)

  useEffect(() => () => void dispatch(dialogClosed()), [key, dispatch])

  return (
    <>
      <title>{`${title} · Administration · Quarterdeck`}</title>
      <div className={`page-head ${styles.head}`}>
        <h1>Administration</h1>
        <Link to="/activity" className={styles.action}>
          <ActionIcon name="activity" />
          Activity
        </Link>
      </div>
      <div className={styles.tabBar}>
        {/* Each change of tab is a history entry, so that Back returns to the previous tab. */}
        <TabList
          id="admin"
          label="Administration"
          tabs={TABS}
          chosen={key}
          onChoose={(tab) => setParameters({ tab }, { preventScrollReset: true })}
        />
      </div>
      <div
        ref={panel}
        id={panelId('admin', key)}
        role="tabpanel"
        aria-labelledby={tabId('admin', key)}
        className={styles.tabPanel}
        tabIndex={-1}
      >
        <Panel />
      </div>
      <AdminDialogs />
    </>
  )
}
