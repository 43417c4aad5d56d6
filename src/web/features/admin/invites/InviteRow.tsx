import { useDispatch } from 'react-redux'
import { basePath } from '../../../basePath'
import { ActionIcon } from '../../../ui/ActionIcon'
import { counted } from '../../../ui/counted'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { roles } from '../access/rights'
import { dialogOpened } from '../adminSlice'
import { CopyAction } from '../CopyAction'
import type { KeyedInvite } from './inviteKey'
import type { InviteStatus } from './inviteStatus'
import { inviteStatus } from './inviteStatus'
import adminStyles from '../admin.module.scss'
import styles from './invites.module.scss'

const tones: Record<InviteStatus, string> = {
  Revoked: 'blocked',
  Expired: 'changing',
  Used: 'stopped',
  Active: 'running',
}

export function InviteRow({ invite }: { invite: KeyedInvite }) {
  const { key, code, message, created_at, used_by, expires_at, role, grants = [] } = invite
  const status = inviteStatus(invite)
  // Another server may omit the expiry or send it in another format.
  const expiresAt = Date.parse(expires_at ?? '')
  const dispatch = useDispatch()
  return (
    <li className={`${adminStyles.row} ${styles.row}`} aria-label={message}>
      <span className={`state ${tones[status]}`}>{status}</span>
      <div className={styles.text}>
        <p>{message}</p>
        <p className={styles.trace}>
          <code>{code}</code>
          {role && ` · ${roles[role].name}`}
          {role === 'limited' && ` to ${counted(grants.length, 'deployment')}`} · created{' '}
          <TimeAgo time={Date.parse(created_at)} />
          {status === 'Active' && Number.isFinite(expiresAt) && (
            <>
              {' '}
              · expires <time dateTime={expires_at}>{date.format(expiresAt)}</time>
            </>
          )}
          {used_by && (
            <>
              {' '}
              · used by <strong>{used_by}</strong>
            </>
          )}
        </p>
      </div>
      <div className={adminStyles.actions}>
        {status === 'Active' && (
          <>
            <CopyAction text={code} of={message}>
              Copy code
            </CopyAction>
            <CopyAction text={registrationLink(code)} of={message}>
              Copy link
            </CopyAction>
          </>
        )}
        <button
          type="button"
          className={`${adminStyles.action} ${adminStyles.danger}`}
          aria-label={`Delete the invite code "${message}"`}
          onClick={() => dispatch(dialogOpened({ kind: 'deleteInvite', key }))}
        >
          <ActionIcon name="trash" />
          Delete
        </button>
      </div>
    </li>
  )
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

const registrationLink = (code: string) =>
  `${window.location.origin}${basePath()}/register?invite=${encodeURIComponent(code)}`
