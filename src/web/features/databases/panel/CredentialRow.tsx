import type { ReactNode } from 'react'
import { CopyButton } from '../../../ui/CopyButton'
import { MASK } from './code'

/** `masked` hides the text on the screen; it can still be copied. */
type CredentialRowProps = { label: string; text: string; masked: boolean; children?: ReactNode }

export function CredentialRow({ label, text, masked, children }: CredentialRowProps) {
  return (
    <div className="credential">
      <dt>{label}</dt>
      <dd>
        {text === '' && <span className="credential-unknown">Not known</span>}
        {text !== '' && masked && (
          <code className="masked">
            <span aria-hidden="true">{MASK}</span>
            <span className="visually-hidden">Hidden</span>
          </code>
        )}
        {text !== '' && !masked && <code>{text}</code>}
        {text !== '' && (
          <span className="credential-buttons">
            {children}
            <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
          </span>
        )}
      </dd>
    </div>
  )
}
