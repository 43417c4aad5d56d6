import type { ComponentType } from 'react'
import { useEffect, useEffectEvent, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Link, useSearchParams } from 'react-router-dom'
import { useCreateParameter } from '../../ui/useCreateParameter'
import { ActionIcon } from '../../ui/ActionIcon'
import { panelId, tabId, TabList } from '../../ui/TabList'
import { useFocusFallback } from '../../ui/useFocusFallback'
import { AdminDialogs } from './AdminDialogs'
import type { AdminDialog } from './adminSlice'
import { dialogClosed, dialogOpened, selectDialog } from './adminSlice'
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

const panels: Record<Tab['key'], ComponentType<{ onInvite: () => void }>> = {
  users: UsersTab,
  invites: InvitesTab,
  dashboard: DashboardTab,
}

const dialogsOfTabs: Record<Tab['key'], AdminDialog['kind'][]> = {
  users: ['resetPassword', 'makeAdministrator', 'deleteUser'],
  invites: ['createInvite', 'deleteInvite'],
  dashboard: ['deleteToken'],
}

export function AdminTabs() {
  const [parameters, setParameters] = useSearchParams()
  const dispatch = useDispatch()
  const { key, title } = TABS.find((tab) => tab.key === parameters.get('tab')) ?? TABS[0]
  const Panel = panels[key]
  const panel = useRef<HTMLDivElement>(null)

  const dialog = useSelector(selectDialog)
  // Each change of tab is a history entry, so that Back returns to the previous tab.
  const choose = (tab: Tab['key']) => setParameters({ tab }, { preventScrollReset: true })

  useFocusFallback(panel, dialog !== null)

  const closeThoseOfOtherTabs = useEffectEvent(() => {
    if (dialog && !dialogsOfTabs[key].includes(dialog.kind)) dispatch(dialogClosed())
  })
  useEffect(() => closeThoseOfOtherTabs(), [key])
  useEffect(() => () => void dispatch(dialogClosed()), [dispatch])

  const invite = () => {
    dispatch(dialogOpened({ kind: 'createInvite', message: '' }))
    if (key !== 'invites') choose('invites')
  }
  useCreateParameter(invite)

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
        <TabList id="admin" label="Administration" tabs={TABS} chosen={key} onChoose={choose} />
      </div>
      <div
        ref={panel}
        id={panelId('admin', key)}
        role="tabpanel"
        aria-labelledby={tabId('admin', key)}
        className={styles.tabPanel}
        tabIndex={-1}
      >
        <Panel onInvite={invite} />
      </div>
      <AdminDialogs />
    </>
  )
}
