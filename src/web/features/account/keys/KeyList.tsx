import type { ApiKey } from '../../../../contract/access'
import { ActionIcon } from '../../../ui/ActionIcon'
import { LastUsed } from '../../../ui/time/LastUsed'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { TimeUntil } from '../../../ui/time/TimeUntil'
import { useNow } from '../../../ui/time/useNow'
import { scopes } from './scopes'
import styles from './keys.module.scss'

/** API keys of one user. Their secrets cannot be shown again. */
export function KeyList({ keys, onDelete }: { keys: ApiKey[]; onDelete: (key: ApiKey) => void }) {
  return (
    <ul className={`panel ${styles.list}`}>
      {keys.map((key) => (
        <KeyItem key={key.id} apiKey={key} onDelete={() => onDelete(key)} />
      ))}
    </ul>
  )
}

function KeyItem({ apiKey, onDelete }: { apiKey: ApiKey; onDelete: () => void }) {
  const { name, prefix, deployments, created_at, expires_at, last_used_at } = apiKey
  const isExpired = Date.parse(expires_at ?? '') <= useNow()
  return (
    <li className={styles.row} aria-label={name}>
      <div className={styles.text}>
        <p className={styles.name}>
          {name} <code>{prefix}…</code>
        </p>
        <p className={styles.scopes}>
          {apiKey.scopes.map((scope) => (
            <span key={scope} className={styles.tag}>
              {/* A newer server may have scopes that this console does not know. */}
              {scopes[scope]?.name ?? scope}
            </span>
          ))}
          <span>{deploymentsText(deployments)}</span>
        </p>
        <p className={styles.trace}>
          created <TimeAgo time={Date.parse(created_at)} /> · <LastUsed time={last_used_at} /> ·{' '}
          {expires_at === undefined ? (
            'does not expire'
          ) : (
            <span className={isExpired ? styles.expired : undefined}>
              {isExpired ? 'expired' : 'expires'}{' '}
              {isExpired ? <TimeAgo time={Date.parse(expires_at)} /> : <TimeUntil time={Date.parse(expires_at)} />}
            </span>
          )}
        </p>
      </div>
      <button
        type="button"
        className={styles.delete}
        title="Delete"
        aria-label={`Delete the API key ${name}`}
        onClick={onDelete}
      >
        <ActionIcon name="trash" />
      </button>
    </li>
  )
}

function deploymentsText(deployments: string[] | undefined): string {
  if (!deployments) return 'on all deployments'
  return deployments.length > 0 ? `on ${deployments.join(', ')}` : 'on none: its deployments were deleted'
}
