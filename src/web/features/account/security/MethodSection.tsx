import type { ReactNode } from 'react'
import { useId } from 'react'
import { useDispatch } from 'react-redux'
import type { SignInMethod } from '../../../../contract/signIn/signInMethods'
import type { MethodTable } from '../../../api/signIn/ownMethods'
import { ActionIcon } from '../../../ui/ActionIcon'
import { LastUsed } from '../../../ui/time/LastUsed'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { securityDialogOpened } from './securitySlice'
import styles from './security.module.scss'

type SectionProps = { title: string; hint: ReactNode; action?: ReactNode; children?: ReactNode }

export function Section({ title, hint, action, children }: SectionProps) {
  const id = useId()
  return (
    <section className={`panel ${styles.section}`} aria-labelledby={id}>
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        <p>{hint}</p>
        {action}
      </div>
      {children}
    </section>
  )
}

type MethodListProps = {
  table: MethodTable
  methods: SignInMethod[]
  /** The only second factor of the account cannot be removed. */
  isLast: boolean
}

export function MethodList({ table, methods, isLast }: MethodListProps) {
  const dispatch = useDispatch()
  const noun = table === 'passkeys' ? 'passkey' : 'authenticator app'
  return (
    <ul className={styles.list}>
      {methods.map(({ id, name, created_at, last_used_at }) => (
        <li key={id} className={styles.row} aria-label={name}>
          <div className={styles.text}>
            <p className={styles.name}>{name}</p>
            <p className={styles.trace}>
              added <TimeAgo time={Date.parse(created_at)} /> · <LastUsed time={last_used_at} />
              {isLast && ' · your only one, so it cannot be removed'}
            </p>
          </div>
          <div className={styles.actions}>
            <button
              type="button"
              className={styles.action}
              aria-label={`Rename the ${noun} ${name}`}
              onClick={() => dispatch(securityDialogOpened({ kind: 'rename', table, id }))}
            >
              <ActionIcon name="pencil" />
              Rename
            </button>
            {!isLast && (
              <button
                type="button"
                className={`${styles.action} ${styles.danger}`}
                aria-label={`Remove the ${noun} ${name}`}
                onClick={() => dispatch(securityDialogOpened({ kind: 'remove', table, id }))}
              >
                <ActionIcon name="trash" />
                Remove
              </button>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}
