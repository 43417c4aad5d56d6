import { takeText } from '../../../api/heldTexts'
import { useConnectOpenIdMutation, useDisconnectOpenIdMutation } from '../../../api/signIn/ownMethods'
import { useReportResult } from '../../../api/useReportResult'
import { failureText } from '../../../failure'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { FailureAlert } from '../../../ui/FailureAlert'
import { ProofDialog } from './ProofDialog'

type ConnectionDialogProps = { /** The provider's name. */ name: string; onClose: () => void }

export function ConnectDialog({ name, onClose }: ConnectionDialogProps) {
  const [connect, { isLoading, error }] = useConnectOpenIdMutation()
  const failed = `Failed to connect your account to ${name}`
  return (
    <ProofDialog
      title={`Connect to ${name}`}
      action="Continue"
      busyText="Opening..."
      failed={failed}
      busy={isLoading}
      error={error}
      onProof={async (proof) => {
        const result = await connect({ proof })
        const url = result.data && takeText(result.data.text)
        if (url !== undefined) window.open(url, '_self')
        return result
      }}
      onClose={onClose}
    >
      <p>{`Anyone who can sign in to the account that you choose at ${name} can then sign in here as you. First confirm that it is you.`}</p>
    </ProofDialog>
  )
}

export function DisconnectDialog({ name, onClose }: ConnectionDialogProps) {
  const [disconnect, { isLoading, error }] = useDisconnectOpenIdMutation()
  const report = useReportResult()
  const failed = `Failed to disconnect your account from ${name}`

  const onConfirm = async () => {
    const result = await disconnect()
    report(result, `Disconnected your account from ${name}`, failed)
    if (!result.error) onClose()
  }

  return (
    <ConfirmDialog
      title={`Disconnect from ${name}`}
      action="Disconnect"
      busyText="Disconnecting..."
      busy={isLoading}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <FailureAlert error={error} text={failureText(error, failed)} />
      <p>{`You will no longer be able to sign in with ${name}.`}</p>
      <p className="form-text">Your password and your other methods stay as they are.</p>
    </ConfirmDialog>
  )
}
