import { userAddress } from '../../../addresses'
import { useDispatch } from 'react-redux'
import { Link } from 'react-router-dom'
import type { Grant } from '../../../../contract/access'
import { basePath } from '../../../basePath'
import { ActionIcon } from '../../../ui/ActionIcon'
import { counted } from '../../../ui/counted'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { TimeUntil } from '../../../ui/time/TimeUntil'
import { rights, roles } from '../access/rights'
import { dialogOpened } from '../adminSlice'
import { CopyAction } from '../CopyAction'
import type { KeyedInvite } from './inviteKey'
import type { InviteStatus } from './inviteStatus'
import { inviteStatus } from './inviteStatus'
import adminStyles from '../admin.module.scss'
import styles from './invites.module.scss'

const tones: Record<InviteStatus, string> = {
  Active: 'running',
  Used: 'stopped',
  Expired: 'stopped',
  Revoked: 'stopped',
}

/** @param props.userId the id of the user who registered with the invite, if they still exist */
export function InviteRow({ invite, userId }: { invite: KeyedInvite; userId: number | undefined }) {
  const { key, code, message, created_at, used_by, expires_at, grants = [] } = invite
  const status = inviteStatus(invite)
  // Not for a used one: who registered first is an administrator.
  const role = invite.role ?? (status === 'Active' ? 'operator' : undefined)
  const isOver = status === 'Expired' || status === 'Revoked'
  // Another server may omit the expiry or send it in another format.
  const expiresAt = Date.parse(expires_at ?? '')
  const dispatch = useDispatch()
  return (
    <li className={`${adminStyles.row} ${styles.row} ${isOver ? styles.over : ''}`} aria-label={message}>
      <span className={`state ${tones[status]} ${styles.status}`}>{status}</span>
      <p className={styles.message} title={message}>
        {message}
      </p>
      <div className={styles.code}>
        <code>{code}</code>
        {status === 'Active' && (
          <>
            <CopyAction text={code} what="code" of={message} />
            <CopyAction text={registrationLink(code)} what="link" of={message} />
          </>
        )}
      </div>
      <div className={styles.trace}>
        {role && (
          <p className={styles.access} title={role === 'limited' ? grantsInWords(grants) : undefined}>
            {roles[role].name}
            {role === 'limited' && limitOf(grants)}
          </p>
        )}
        {used_by ? (
          <p className={styles.use}>
            used by {userId === undefined ? <span>{used_by}</span> : <Link to={userAddress(userId)}>{used_by}</Link>}
          </p>
        ) : (
          status === 'Active' &&
          Number.isFinite(expiresAt) && (
            <p className={styles.use}>
              expires <TimeUntil time={expiresAt} />
            </p>
          )
        )}
        <p className={styles.created}>
          <span className={adminStyles.word}>created </span>
          <TimeAgo time={Date.parse(created_at)} />
        </p>
      </div>
      <button
        type="button"
        className={`${adminStyles.iconAction} ${adminStyles.danger} ${styles.delete}`}
        title="Delete"
        aria-label={`Delete the invite code "${message}"`}
        onClick={() => dispatch(dialogOpened({ kind: 'deleteInvite', key }))}
      >
        <ActionIcon name="trash" />
      </button>
    </li>
  )
}

const registrationLink = (code: string) =>
  `${window.location.origin}${basePath()}/register?invite=${encodeURIComponent(code)}`

/** A few deployments are named, more are counted. */
function limitOf(grants: readonly Grant[]): string {
  if (grants.length === 0) return ', without rights'
  const names = grants.map(({ deployment }) => deployment)
  return ` to ${names.length <= 2 ? names.join(' and ') : counted(names.length, 'deployment')}`
}

const grantsInWords = (grants: readonly Grant[]): string =>
  grants.map((grant) => `${grant.deployment}: ${grant.rights.map((right) => rights[right].name).join(', ')}`).join('\n')
