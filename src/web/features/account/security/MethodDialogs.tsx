import { useState } from 'react'
import type { MethodTable } from '../../../api/signIn/ownMethods'
import { useGetOwnMethodsQuery, useRemoveMethodMutation, useRenameMethodMutation } from '../../../api/signIn/ownMethods'
import { useReportResult } from '../../../api/useReportResult'
import { failureText, isCancelled } from '../../../failure'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { FailureAlert } from '../../../ui/FailureAlert'
import { NameField } from './NameField'
import { ProofDialog } from './ProofDialog'

const nouns: Record<MethodTable, string> = { passkeys: 'passkey', authenticators: 'authenticator app' }
const titles: Record<MethodTable, string> = { passkeys: 'Passkey', authenticators: 'Authenticator App' }

type MethodDialogProps = { table: MethodTable; id: string; onClose: () => void }

const useName = (table: MethodTable, id: string) =>
  useGetOwnMethodsQuery().data?.[table].find((method) => method.id === id)?.name

export function RenameMethodDialog({ table, id, onClose }: MethodDialogProps) {
  const [rename, { isLoading, error }] = useRenameMethodMutation()
  const [name, setName] = useState(useName(table, id) ?? '')
  const [tries, setTries] = useState(0)
  const report = useReportResult()
  const failed = `Failed to rename the ${nouns[table]}`

  const submit = async () => {
    setTries(tries + 1)
    if (name.trim() === '') return
    const result = await rename({ table, id, name: name.trim() })
    report(result, `Renamed the ${nouns[table]}`, failed)
    if (!result.error) onClose()
  }

  return (
    <FormDialog
      title={`Rename ${titles[table]}`}
      action="Rename"
      busyText="Renaming..."
      busy={isLoading}
      onSubmit={submit}
      onClose={onClose}
    >
      <FailureAlert error={error} text={failureText(error, failed)} />
      <NameField
        rule="Identifies it in the list of your sign-in methods"
        name={name}
        tries={tries}
        onChange={setName}
      />
    </FormDialog>
  )
}

export function RemoveMethodDialog({ table, id, onClose }: MethodDialogProps) {
  const [remove, { isLoading, error }] = useRemoveMethodMutation()
  const name = useName(table, id)
  const report = useReportResult()
  const failed = `Failed to remove the ${nouns[table]}`

  return (
    <ProofDialog
      title={`Remove ${titles[table]}`}
      action="Remove"
      busyText="Removing..."
      variant="danger"
      failed={failed}
      busy={isLoading}
      error={error}
      onProof={async (proof) => {
        const result = await remove({ table, id, proof })
        if (!isCancelled(result.error)) report(result, `Removed the ${nouns[table]}`, failed)
        if (!result.error) onClose()
        return result
      }}
      onClose={onClose}
    >
      <p>
        {name === undefined ? 'It' : <strong>{name}</strong>} will no longer sign you in. Confirm that it is you.
        {table === 'passkeys' && ' The passkey itself stays on its device; delete it there, too.'}
      </p>
    </ProofDialog>
  )
}
