import type { ReactNode } from 'react'
import { CopyButton } from '../../../ui/copy/CopyButton'
import { MASK } from './code'
import styles from './databasePanel.module.scss'

/** `masked` hides the text on the screen; it can still be copied. */
type CredentialRowProps = { label: string; text: string; masked: boolean; children?: ReactNode }

export function CredentialRow({ label, text, masked, children }: CredentialRowProps) {
  return (
    <div className={styles.credential}>
      <dt>{label}</dt>
      <dd>
        {text === '' && <span className={styles.credentialUnknown}>Not known</span>}
        {text !== '' && masked && (
          <code className={styles.masked}>
            <span aria-hidden="true">{MASK}</span>
            <span className="visually-hidden">Hidden</span>
          </code>
        )}
        {text !== '' && !masked && <code>{text}</code>}
        {text !== '' && (
          <span className={styles.credentialButtons}>
            {children}
            <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
          </span>
        )}
      </dd>
    </div>
  )
}
