import { CopyButton } from '../../../ui/copy/CopyButton'
import { ShownOnceDialog, ShownSecret } from '../ShownOnceDialog'
import styles from './keys.module.scss'

type CreatedKeyDialogProps = {
  name: string
  /** The key itself. */
  secret: string
  onClose: () => void
}

/** Shows a new key, which cannot be shown again. */
export function CreatedKeyDialog({ name, secret, onClose }: CreatedKeyDialogProps) {
  return (
    <ShownOnceDialog title="Your New API Key" action="I have copied it" onClose={onClose}>
      <p>
        <strong>Copy the key of {name} now: it will not be shown again.</strong> Keep it like a password.
      </p>
      <ShownSecret buttons={<CopyButton text={secret} label="Copy API key" />}>{secret}</ShownSecret>
      <p className={`form-text ${styles.hint}`}>
        Programs send it as <code>Authorization: Bearer qd_…</code>
      </p>
    </ShownOnceDialog>
  )
}
