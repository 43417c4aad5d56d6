import Button from 'react-bootstrap/Button'
import { useDispatch } from 'react-redux'
import type { OwnSession } from '../../../contract/signIn/auth'
import { TimeAgo } from '../../ui/time/TimeAgo'
import { sessionEndRequested } from './accountSlice'
import { deviceOf } from '../../ui/deviceOf'
import styles from './account.module.scss'

export function SessionItem({ session: { id, device, address, last_used_at, current } }: { session: OwnSession }) {
  const dispatch = useDispatch()
  const name = deviceOf(device)
  return (
    <li className={styles.session}>
      <div>
        <p className={styles.sessionDevice} title={device || undefined}>
          {name}
          {current && <span className={styles.sessionCurrent}>This session</span>}
        </p>
        <p className={styles.sessionTrace}>
          {address} · used <TimeAgo time={Date.parse(last_used_at)} />
        </p>
      </div>
      {!current && (
        <Button
          variant="outline-secondary"
          size="sm"
          aria-label={`End the session of ${name} at ${address}`}
          onClick={() => dispatch(sessionEndRequested({ id }))}
        >
          End
        </Button>
      )}
    </li>
  )
}
