import { useDispatch } from 'react-redux'
import Button from 'react-bootstrap/Button'
import type { UserAccess } from '../../../../contract/access'
import { useGetUserAccessQuery, useSetUserAccessMutation } from '../../../api/users'
import { useAppSelector } from '../../../app/hooks'
import { failureText } from '../../../failure'
import { FailureAlert } from '../../../ui/FailureAlert'
import { BusyButton } from '../../../ui/form/BusyButton'
import { useOneAtATime } from '../../../ui/useOneAtATime'
import { AccessFields } from '../access/AccessFields'
import { allowsSame, effectiveAccess, roles } from '../access/rights'
import { accessChoiceDropped, accessChosen, selectAccessEdit } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'
import { Section } from './Section'
import styles from './user.module.scss'

type UserRightsProps = { id: number; username: string; isOwn: boolean }

export function UserRights({ id, username, isOwn }: UserRightsProps) {
  const query = useGetUserAccessQuery(id, { refetchOnMountOrArgChange: true })
  return (
    <Section title="Rights" query={query} what="the rights">
      {query.data && isOwn && (
        <p className={`panel ${styles.own}`}>
          <strong>{roles[query.data.role].name}.</strong> {roles[query.data.role].meaning} You cannot change your own
          rights. Ask another administrator to do it.
        </p>
      )}
      {query.data && !isOwn && <RightsForm id={id} username={username} saved={query.data} />}
    </Section>
  )
}

/** Changes are kept until they are saved or discarded, even on other pages. */
function RightsForm({ id, username, saved }: { id: number; username: string; saved: UserAccess }) {
  const edit = useAppSelector((state) => selectAccessEdit(state, id))
  const [save, { isLoading, error, reset }] = useSetUserAccessMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()
  const access = edit?.access ?? saved
  const isChanged = edit !== undefined && !allowsSame(edit.access, saved)
  const isOutdated = isChanged && !allowsSame(edit.saved, saved)

  const change = (changed: UserAccess) => {
    if (isLoading) return
    // The error of the last attempt was about other rights.
    if (error) reset()
    dispatch(accessChosen({ id, access: changed, saved }))
  }
  const discard = () => {
    reset()
    dispatch(accessChoiceDropped(id))
  }
  const submit = useOneAtATime(async () => {
    if (!isChanged) return
    const result = await save({ id, ...effectiveAccess(access) })
    report(result, `Successfully changed the rights of ${username}`, `Failed to change the rights of ${username}`)
    if (!result.error) dispatch(accessChoiceDropped(id))
  })

  return (
    <div className={`panel ${styles.form}`}>
      <AccessFields access={access} onChange={change} />
      <FailureAlert error={error} text={failureText(error, `Failed to change the rights of ${username}`)} />
      <div className={styles.save}>
        <p role="status">
          {isChanged && 'Unsaved changes'}
          {isOutdated &&
            '. These rights were changed elsewhere since: discard your changes to see that, or save them to replace it.'}
        </p>
        {isChanged && !isLoading && (
          <Button variant="outline-secondary" onClick={discard}>
            Discard
          </Button>
        )}
        <BusyButton busy={isLoading} busyText="Saving..." disabled={!isChanged} onClick={submit}>
          Save rights
        </BusyButton>
      </div>
    </div>
  )
}
