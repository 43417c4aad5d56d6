import { useState } from 'react'
import { takeText } from '../../../api/heldTexts'
import { useBeginPasskeyMutation, useCreatePasskeyMutation } from '../../../api/signIn/ownMethods'
import { useReportResult } from '../../../api/useReportResult'
import { failureText, isCancelled } from '../../../failure'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { FailureAlert } from '../../../ui/FailureAlert'
import { NameField } from './NameField'
import { ProofDialog } from './ProofDialog'

const FAILED = 'Failed to add the passkey'

/** Two steps: the proof; then the name and the browser's own dialog, which can be repeated. */
export function AddPasskeyDialog({ onClose }: { onClose: () => void }) {
  const [begin, { data, isLoading, error }] = useBeginPasskeyMutation()
  const [options, setOptions] = useState<string>()

  // In a replay the options are not recorded, only that they were received.
  if (options !== undefined || data) return <NewPasskey options={options ?? ''} onClose={onClose} />
  return (
    <ProofDialog
      title="Add a Passkey"
      action="Continue"
      busyText="Checking..."
      failed={FAILED}
      busy={isLoading}
      error={error}
      onProof={async (proof) => {
        const result = await begin({ proof })
        if (result.data) setOptions(takeText(result.data.text))
        return result
      }}
      onClose={onClose}
    >
      <p>A passkey is kept by this device, your phone or a security key. First confirm that it is you.</p>
    </ProofDialog>
  )
}

function NewPasskey({ options, onClose }: { options: string; onClose: () => void }) {
  const [create, { isLoading, error }] = useCreatePasskeyMutation()
  const [name, setName] = useState('')
  const [tries, setTries] = useState(0)
  const report = useReportResult()

  const submit = async () => {
    setTries(tries + 1)
    if (name.trim() === '') return
    const result = await create({ name: name.trim(), options })
    if (!isCancelled(result.error)) report(result, 'Added the passkey', FAILED)
    if (!result.error) onClose()
  }

  return (
    <FormDialog
      title="Add a Passkey"
      action="Create passkey"
      busyText="Waiting for the browser..."
      busy={isLoading}
      ignoresOutsideClicks
      onSubmit={submit}
      onClose={onClose}
    >
      <FailureAlert error={error} text={failureText(error, FAILED)} />
      <NameField
        rule="Where the passkey is, for example Laptop or Security key"
        name={name}
        tries={tries}
        onChange={setName}
      />
      <p className="form-text">Then follow your browser. It asks for your fingerprint, face, PIN or security key.</p>
    </FormDialog>
  )
}
