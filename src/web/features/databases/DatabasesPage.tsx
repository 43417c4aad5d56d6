import { useEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import { databasesApi, useGetDatabasesQuery } from '../../api/databases'
import { useAccess } from '../../api/useAccess'
import { useCreateParameter } from '../../ui/useCreateParameter'
import { Notice } from '../../ui/Notice'
import { RefreshButton } from '../../ui/pageHead/RefreshButton'
import { SearchField } from '../../ui/SearchField'
import { CreateDatabaseDialog } from './CreateDatabaseDialog'
import { creationStarted, databasesPageLeft, filterTyped, selectDialog, selectFilter } from './databasesSlice'
import { DatabasesSection } from './DatabasesSection'
import { DATABASE_TYPES } from './databaseType'
import { DeleteDatabaseDialog } from './DeleteDatabaseDialog'
import { ResetDatabasePasswordDialog } from './ResetDatabasePasswordDialog'
import styles from './databases.module.scss'

/** The filter is shown from this number of databases on. */
const FILTERED_FROM = 6

export function DatabasesPage() {
  const { isLimited } = useAccess()
  if (!isLimited) return <Databases />
  return (
    <Notice
      title="No Access to Databases"
      icon="lock"
      actions={
        <Link to="/" className="btn btn-primary">
          Return Home
        </Link>
      }
    >
      <title>Databases · Quarterdeck</title>
      <p>Databases are for operators and administrators. Ask one of them if you need one.</p>
    </Notice>
  )
}

function Databases() {
  const options = { refetchOnFocus: true, refetchOnMountOrArgChange: true }
  const queries = { sql: useGetDatabasesQuery('sql', options), mongo: useGetDatabasesQuery('mongo', options) }
  const dialog = useSelector(selectDialog)
  const filter = useSelector(selectFilter)
  const dispatch = useDispatch()

  useEffect(() => () => void dispatch(databasesPageLeft()), [dispatch])
  useCreateParameter((type) => dispatch(creationStarted(type === 'mongo' ? 'mongo' : 'sql')))

  const busy = DATABASE_TYPES.some((type) => queries[type].isFetching)
  const count = DATABASE_TYPES.reduce((sum, type) => sum + (queries[type].data?.length ?? 0), 0)

  return (
    <>
      <title>Databases · Quarterdeck</title>
      <div className="page-head">
        <h1>Databases</h1>
        <RefreshButton busy={busy} onRefresh={() => dispatch(databasesApi.util.invalidateTags(['Database']))} />
        <p className="page-summary">Manage your database instances and credentials</p>
      </div>
      {(count >= FILTERED_FROM || filter !== '') && (
        <div className={styles.filter}>
          <SearchField
            label="Filter databases"
            placeholder="Filter by name"
            text={filter}
            onChange={(text) => dispatch(filterTyped(text))}
          />
        </div>
      )}
      {DATABASE_TYPES.map((type) => (
        <DatabasesSection key={type} type={type} query={queries[type]} filter={filter} />
      ))}
      {dialog?.kind === 'create' && <CreateDatabaseDialog creation={dialog} />}
      {dialog?.kind === 'delete' && <DeleteDatabaseDialog type={dialog.type} name={dialog.name} />}
      {dialog?.kind === 'reset' && <ResetDatabasePasswordDialog type={dialog.type} name={dialog.name} />}
    </>
  )
}
