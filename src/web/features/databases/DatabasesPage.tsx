import { useEffect } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { databasesApi, useGetDatabasesQuery } from '../../api/databases'
import { ActionIcon } from '../../ui/ActionIcon'
import { CreateDialog } from './CreateDialog'
import { DatabaseFilter } from './DatabaseFilter'
import { left, selectDialog, selectFilter } from './databasesSlice'
import { DatabasesSection } from './DatabasesSection'
import { types } from './databaseType'
import { DeleteDialog } from './DeleteDialog'
import { ResetDialog } from './ResetDialog'
import './databases.scss'

/** With more than these, looking for one by eye takes too long. */
const FILTERED_FROM = 6

export function DatabasesPage() {
  const options = { refetchOnFocus: true, refetchOnMountOrArgChange: true }
  const answers = { sql: useGetDatabasesQuery('sql', options), mongo: useGetDatabasesQuery('mongo', options) }
  const dialog = useSelector(selectDialog)
  const filter = useSelector(selectFilter)
  const dispatch = useDispatch()

  useEffect(() => () => void dispatch(left()), [dispatch])

  const busy = types.some((type) => answers[type].isFetching)
  const count = types.reduce((sum, type) => sum + (answers[type].data?.length ?? 0), 0)
  const refresh = () => {
    if (!busy) dispatch(databasesApi.util.invalidateTags(['Database']))
  }

  return (
    <>
      <title>Databases · Quarterdeck</title>
      <div className="page-head">
        <h1>Databases</h1>
        <Button
          variant="outline-secondary"
          className="databases-refresh"
          aria-label="Refresh"
          title="Refresh"
          aria-busy={busy}
          aria-disabled={busy}
          onClick={refresh}
        >
          {busy ? (
            <span className="spinner-border spinner-border-sm" aria-hidden="true" />
          ) : (
            <ActionIcon name="restart" />
          )}
        </Button>
        <p className="page-summary">Manage your database instances and credentials</p>
      </div>
      {(count >= FILTERED_FROM || filter !== '') && <DatabaseFilter filter={filter} />}
      {types.map((type) => (
        <DatabasesSection key={type} type={type} answer={answers[type]} filter={filter} />
      ))}
      {dialog?.kind === 'create' && <CreateDialog creation={dialog} />}
      {dialog?.kind === 'delete' && <DeleteDialog type={dialog.type} name={dialog.name} />}
      {dialog?.kind === 'reset' && <ResetDialog type={dialog.type} name={dialog.name} />}
    </>
  )
}
