import { useState } from 'react'
import { useDispatch } from 'react-redux'
import type { DatabaseType } from '../../../../contract/database'
import type { ListedDatabase, ShownCredentials } from '../../../api/databases'
import { useAppSelector } from '../../../app/hooks'
import { panelId, tabId, TabList } from '../../../ui/TabList'
import { ConnectionTab } from './ConnectionTab'
import { CredentialsTab } from './CredentialsTab'
import { selectTab, tabChosen } from '../databasesSlice'
import styles from './databasePanel.module.scss'

const TABS = [
  { key: 'credentials', title: 'Credentials' },
  { key: 'connection', title: 'Connection Info' },
] as const

export function DatabasePanel({ id, type, database }: { id: string; type: DatabaseType; database: ListedDatabase }) {
  const { name, credentials } = database
  const tab = useAppSelector((state) => selectTab(state, { type, name }))
  // Holds the revealed credentials, not a flag, so that a new password is masked again. Never in the store.
  const [revealed, setRevealed] = useState<ShownCredentials>()
  const dispatch = useDispatch()

  const isRevealed = revealed === credentials
  const reveal = { isRevealed, onReveal: () => setRevealed(isRevealed ? undefined : credentials) }

  return (
    <div id={id} className={styles.databasePanel}>
      <TabList
        id={id}
        label={name}
        tabs={TABS}
        chosen={tab}
        onChoose={(chosen) => dispatch(tabChosen({ type, name, tab: chosen }))}
      />
      <div id={panelId(id, tab)} role="tabpanel" aria-labelledby={tabId(id, tab)}>
        {tab === 'credentials' && <CredentialsTab credentials={credentials} {...reveal} />}
        {tab === 'connection' && <ConnectionTab type={type} database={database} {...reveal} />}
      </div>
    </div>
  )
}
