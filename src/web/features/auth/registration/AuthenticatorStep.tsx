import { CODE_LENGTH } from '../../../../contract/rules'
import { CopyButton } from '../../../ui/copy/CopyButton'
import { CodeForm } from '../CodeForm'

type AuthenticatorStepProps = {
  qrCode?: string
  /** Missing if the server sends the QR code only. */
  secret?: string
  busy: boolean
  onSubmit: (code: string) => Promise<{ error?: unknown }>
}

export function AuthenticatorStep({ qrCode, secret, busy, onSubmit }: AuthenticatorStepProps) {
  return (
    <>
      <p className="auth-lead">
        Scan this with your authenticator app, then enter the six-digit code it shows. The sixth digit sends it.
      </p>
      <div className="qr">
        {qrCode?.startsWith('data:image/') && (
          <img src={qrCode} width={184} height={184} alt="QR code for your authenticator app" />
        )}
      </div>
      {secret && (
        <>
          <p className="form-text">No camera? Type this key into the app:</p>
          <div className="secret">
            <code>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
            <CopyButton text={secret} label="Copy key" />
          </div>
        </>
      )}
      <CodeForm busy={busy} onSubmit={onSubmit} sentAt={CODE_LENGTH} />
    </>
  )
}
