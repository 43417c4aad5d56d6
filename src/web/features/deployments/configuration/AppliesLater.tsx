import { useGetDeploymentsQuery } from '../../../api/deployments'
import { useAccess } from '../../../api/useAccess'
import { useIsRestarting } from '../../../deploymentPower/power'
import { useAskFirst } from '../../../deploymentPower/useAskFirst'
import styles from './configuration.module.scss'

/** Says when a saved configuration applies, and offers the restart if instances run. */
export function AppliesLater({ name }: { name: string }) {
  const { deployment } = useGetDeploymentsQuery(undefined, {
    refetchOnMountOrArgChange: true,
    selectFromResult: ({ data }) => ({ deployment: data?.find((listed) => listed.name === name) }),
  })
  const isRestarting = useIsRestarting(name)
  const askFirst = useAskFirst()
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
          onClick={() => !isRestarting && askFirst('restart', name, deployment?.counts)}
        >
          {isRestarting ? 'Restarting...' : 'Restart now'}
        </button>
      )}
    </p>
  )
}
