import { useState } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch } from 'react-redux'
import { useCreateDashboardTokenMutation } from '../../../api/admin'
import { BusyButton } from '../../../ui/form/BusyButton'
import { CopyButton } from '../../../ui/copy/CopyButton'
import { useOneAtATime } from '../../../ui/useOneAtATime'
import { dialogOpened } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'
import styles from './dashboard.module.scss'

export function DashboardToken({ token }: { token: string | null }) {
  const [create, { isLoading }] = useCreateDashboardTokenMutation()
  const [revealed, setRevealed] = useState(false)
  const report = useReportQuietly()
  const dispatch = useDispatch()

  const onCreate = useOneAtATime(async () => {
    if (isLoading) return
    setRevealed(false)
    report(await create(), 'Successfully created the dashboard token', 'Failed to create the dashboard token')
  })

  return (
    <div className={styles.row}>
      <h2>Token</h2>
      {token === null ? (
        <>
          <p>There is no token yet. A token signs you in to the Kubernetes dashboard.</p>
          <BusyButton busy={isLoading} busyText="Creating..." onClick={onCreate}>
            Create Token
          </BusyButton>
        </>
      ) : (
        <>
          <div className={styles.token}>
            <code aria-label={revealed ? undefined : 'Hidden token'}>{revealed ? token : '•'.repeat(24)}</code>
            <CopyButton text={token} label="Copy token" />
          </div>
          <div className={styles.actions}>
            <Button variant="outline-secondary" aria-pressed={revealed} onClick={() => setRevealed(!revealed)}>
              {revealed ? 'Hide' : 'Reveal'}
            </Button>
            <Button variant="outline-danger" onClick={() => dispatch(dialogOpened({ kind: 'deleteToken' }))}>
              Delete Token
            </Button>
          </div>
        </>
      )}
    </div>
  )
}
