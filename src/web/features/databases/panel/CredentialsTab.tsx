import type { ShownCredentials } from '../../../api/databases'
import { CredentialRow } from './CredentialRow'
import { credentialRows } from './credentialRows'
import { RevealButton } from './RevealButton'
import styles from './databasePanel.module.scss'

type CredentialsTabProps = { credentials: ShownCredentials; isRevealed: boolean; onReveal: () => void }

export function CredentialsTab({ credentials, isRevealed, onReveal }: CredentialsTabProps) {
  return (
    <dl className={styles.credentials}>
      {credentialRows(credentials).map(({ key, label, text, isSecret }) => (
        <CredentialRow key={key} label={label} text={text} masked={isSecret && !isRevealed}>
          {isSecret && <RevealButton what={label.toLowerCase()} isRevealed={isRevealed} onReveal={onReveal} />}
        </CredentialRow>
      ))}
    </dl>
  )
}
