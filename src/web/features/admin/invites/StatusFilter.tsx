import { useId } from 'react'
import type { InviteStatus } from './inviteStatus'
import styles from './statusFilter.module.scss'

const CHOICES = [null, 'Active', 'Used', 'Expired', 'Revoked'] as const satisfies (InviteStatus | null)[]

type StatusFilterProps = {
  /** The statuses of the invites to choose from. */
  statuses: InviteStatus[]
  /** Null: all. */
  chosen: InviteStatus | null
  onChoose: (status: InviteStatus | null) => void
}

/** The statuses with their numbers. */
export function StatusFilter({ statuses, chosen, onChoose }: StatusFilterProps) {
  const name = useId()
  return (
    <div role="radiogroup" aria-label="Status" className={styles.segments}>
      {CHOICES.map((status) => (
        <label key={status} className={styles.segment}>
          <input
            type="radio"
            className="visually-hidden"
            name={name}
            checked={status === chosen}
            onChange={() => onChoose(status)}
          />
          {status ?? 'All'}{' '}
          <span>{status === null ? statuses.length : statuses.filter((other) => other === status).length}</span>
        </label>
      ))}
    </div>
  )
}
