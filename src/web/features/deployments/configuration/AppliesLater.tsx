import { useGetDeploymentsQuery } from '../../../api/deployments'
import { useAccess } from '../../../api/useAccess'
import { useRestart } from '../../../deploymentPower'
import { useAskFirst } from '../useAskFirst'
import styles from './configuration.module.scss'

/** Says when a saved configuration applies, and offers the restart if instances run. */
export function AppliesLater({ name }: { name: string }) {
  const { deployment } = useGetDeploymentsQuery(undefined, {
    refetchOnMountOrArgChange: true,
    selectFromResult: ({ data }) => ({ deployment: data?.find((listed) => listed.name === name) }),
  })
  const { restart, isRestarting } = useRestart(name)
  const askFirst = useAskFirst(name, deployment?.counts)
  const { may } = useAccess()
  const runs = deployment?.enabled === true && deployment.counts !== undefined && deployment.counts.active > 0
  return (
    <p className={styles.applies}>
      Applies at the next start of each instance.
      {(runs || isRestarting) && may('power', name) && (
        <button
          type="button"
          className="text-button"
          aria-busy={isRestarting}
          aria-disabled={isRestarting}
          onClick={() => !isRestarting && askFirst('restart', restart)}
        >
          {isRestarting ? 'Restarting...' : 'Restart now'}
        </button>
      )}
    </p>
  )
}
