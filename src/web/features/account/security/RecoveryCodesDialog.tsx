import { useState } from 'react'
import Button from 'react-bootstrap/Button'
import { takeText } from '../../../api/heldTexts'
import { useCreateRecoveryCodesMutation, useGetOwnMethodsQuery } from '../../../api/signIn/ownMethods'
import { saveText } from '../../../api/saveAs'
import { counted } from '../../../ui/counted'
import { useCopy } from '../../../ui/copy/useCopy'
import { ShownOnceDialog } from '../ShownOnceDialog'
import { ProofDialog } from './ProofDialog'
import styles from './security.module.scss'

const FAILED = 'Failed to create recovery codes'

export function RecoveryCodesDialog({ onClose }: { onClose: () => void }) {
  const left = useGetOwnMethodsQuery().data?.recoveryCodes ?? 0
  const [create, { data, isLoading, error }] = useCreateRecoveryCodesMutation()
  const [codes, setCodes] = useState<string>()

  // In a replay the codes are not recorded, only that they were received.
  if (codes !== undefined || data) return <NewRecoveryCodes codes={codes ?? '•••'} onClose={onClose} />
  return (
    <ProofDialog
      title={left > 0 ? 'Create New Recovery Codes' : 'Create Recovery Codes'}
      action="Create codes"
      busyText="Creating codes..."
      failed={FAILED}
      busy={isLoading}
      error={error}
      onProof={async (proof) => {
        const result = await create({ proof })
        if (result.data) setCodes(takeText(result.data.text))
        return result
      }}
      onClose={onClose}
    >
      <p>
        You get ten codes. Each signs you in once, with your password, when you have no authenticator app or passkey at
        hand.
      </p>
      {left > 0 && <p className="form-text">The {counted(left, 'code')} that you still have will no longer work.</p>}
    </ProofDialog>
  )
}

function NewRecoveryCodes({ codes, onClose }: { codes: string; onClose: () => void }) {
  const { outcome, copy } = useCopy(codes)
  return (
    <ShownOnceDialog title="Your New Recovery Codes" action="I have kept them" onClose={onClose}>
      <p>
        <strong>Keep these codes now: they will not be shown again.</strong> Print them, or store them in a password
        manager, not on the device of your authenticator app.
      </p>
      <ul className={styles.codes} aria-label="Recovery codes">
        {codes.split('\n').map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className={styles.codeActions}>
        <Button variant="outline-secondary" onClick={copy}>
          {outcome === 'copied' ? 'Copied' : 'Copy'}
        </Button>
        <Button
          variant="outline-secondary"
          onClick={() =>
            saveText(
              'quarterdeck-recovery-codes.txt',
              `Recovery codes of ${window.location.host}. Each works once.\n\n${codes}\n`,
            )
          }
        >
          Download
        </Button>
        <span role="status" className={outcome === 'failed' ? 'form-text broken' : 'visually-hidden'}>
          {outcome === 'copied' && 'Copied'}
          {outcome === 'failed' && 'Could not be copied. Select the codes instead.'}
        </span>
      </div>
    </ShownOnceDialog>
  )
}
