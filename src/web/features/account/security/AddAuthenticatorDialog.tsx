import { useState } from 'react'
import type { NewAuthenticatorResponse } from '../../../../contract/signIn/signInMethods'
import { CODE_LENGTH, CODE_PATTERN } from '../../../../contract/rules'
import { takeText } from '../../../api/heldTexts'
import { useBeginAuthenticatorMutation, useConfirmAuthenticatorMutation } from '../../../api/signIn/ownMethods'
import { useReportResult } from '../../../api/useReportResult'
import { failureText } from '../../../failure'
import { CopyButton } from '../../../ui/copy/CopyButton'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { FailureAlert } from '../../../ui/FailureAlert'
import { Field } from '../../../ui/form/Field'
import { ShownSecret } from '../ShownOnceDialog'
import { NameField } from './NameField'
import { ProofDialog } from './ProofDialog'
import styles from './security.module.scss'

const FAILED = 'Failed to add the authenticator app'
type Setup = NewAuthenticatorResponse['data']
/** Shown in a replay, whose log has only a handle of the response. */
const NOT_RECORDED: Setup = { setup: '', qrCode: '', secret: '•••' }

/** Two steps: the proof; then the QR code, the name and the app's first code. */
export function AddAuthenticatorDialog({ onClose }: { onClose: () => void }) {
  const [begin, { data, isLoading, error }] = useBeginAuthenticatorMutation()
  const [setup, setSetup] = useState<Setup>()

  if (setup ?? data) return <NewAuthenticator {...(setup ?? NOT_RECORDED)} onClose={onClose} />
  return (
    <ProofDialog
      title="Add an Authenticator App"
      action="Continue"
      busyText="Checking..."
      failed={FAILED}
      busy={isLoading}
      error={error}
      onProof={async (proof) => {
        const result = await begin({ proof })
        const text = result.data && takeText(result.data.text)
        if (text !== undefined) setSetup(JSON.parse(text) as Setup)
        return result
      }}
      onClose={onClose}
    >
      <p>Codes of any of your authenticator apps sign you in. First confirm that it is you.</p>
    </ProofDialog>
  )
}

function NewAuthenticator({ setup, qrCode, secret, onClose }: Setup & { onClose: () => void }) {
  const [confirm, { isLoading, error }] = useConfirmAuthenticatorMutation()
  const [name, setName] = useState('')
  const [code, setCode] = useState('')
  const [tries, setTries] = useState(0)
  const report = useReportResult()
  const isCodeBroken = tries > 0 && !CODE_PATTERN.test(code)

  const submit = async () => {
    setTries(tries + 1)
    if (name.trim() === '' || !CODE_PATTERN.test(code)) return
    const result = await confirm({ setup, name: name.trim(), code })
    report(result, 'Added the authenticator app', FAILED)
    if (!result.error) return onClose()
    setCode('')
    setTries(tries + 2)
  }

  return (
    <FormDialog
      title="Add an Authenticator App"
      action="Add"
      busyText="Adding..."
      busy={isLoading}
      ignoresOutsideClicks
      onSubmit={submit}
      onClose={onClose}
    >
      <FailureAlert error={error} text={failureText(error, FAILED)} />
      <p>Scan this with the app, then enter the code that it shows.</p>
      <div className={styles.qrCode}>
        {qrCode.startsWith('data:image/') && (
          <img src={qrCode} width={184} height={184} alt="QR code for your authenticator app" />
        )}
      </div>
      <div>
        <p className={`form-text ${styles.secretLabel}`}>No camera? Type this key into the app:</p>
        <ShownSecret buttons={<CopyButton text={secret} label="Copy key" />}>
          {secret.replace(/(.{4})(?=.)/g, '$1 ')}
        </ShownSecret>
      </div>
      <NameField rule="Where the app is, for example Phone" name={name} tries={tries} onChange={setName} />
      <Field
        label="Verification code"
        rule={`The ${CODE_LENGTH} digits that the app shows now`}
        broken={isCodeBroken}
        focused={isCodeBroken && name.trim() !== ''}
        focusKey={tries}
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        value={code}
        onChange={(text) => setCode(text.replace(/\D/g, '').slice(0, CODE_LENGTH))}
      />
    </FormDialog>
  )
}
