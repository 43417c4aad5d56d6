import { Link } from 'react-router-dom'
import type { ListedDeployment } from '../../api/deployments'
import { counted } from '../../ui/counted'
import { instanceAddress } from '../../addresses'
import styles from './deployments.module.scss'

/** Such as "1/2 online · 1 blocked · 8 players". Empty without counts from the server, or if nothing should run. */
export function InstanceSummary({ deployment: { name, enabled, counts } }: { deployment: ListedDeployment }) {
  if (!counts || (counts.total === 0 && !enabled)) return null
  const { total, online, blocked, players, onlyUid } = counts
  if (total === 0) return <span className={styles.counts}>no instances</span>
  return (
    <span className={styles.counts}>
      <Link
        to={onlyUid === undefined ? '/' : instanceAddress(name, onlyUid)}
        title={onlyUid === undefined ? 'Show its instances in the overview' : 'Show its instance'}
      >
        {online}/{total} online
      </Link>
      {blocked > 0 && (
        <>
          {' · '}
          <span className={styles.blocked}>{blocked} blocked</span>
        </>
      )}
      {players > 0 && ` · ${counted(players, 'player')}`}
    </span>
  )
}
