import { useId } from 'react'
import { useGetDeploymentsQuery } from '../../../api/deployments'
import { failureDetail } from '../../../failure'
import { Checkbox } from '../../../ui/form/Checkbox'
import { LoadFailure } from '../../../ui/LoadFailure'
import { ChoiceGroup } from './ChoiceGroup'
import type { KeyCreation } from './keysSlice'
import styles from './keys.module.scss'

type KeyDeploymentsProps = {
  creation: KeyCreation
  problem: string | undefined
  onChange: (change: Partial<Pick<KeyCreation, 'isRestricted' | 'deployments'>>) => void
}

export function KeyDeployments({ creation, problem, onChange }: KeyDeploymentsProps) {
  const { isRestricted, deployments: chosen } = creation
  const { data, error, isFetching, refetch } = useGetDeploymentsQuery(undefined, { skip: !isRestricted })
  const name = useId()
  const names = data?.map((deployment) => deployment.name).sort((a, b) => a.localeCompare(b))
  return (
    <ChoiceGroup label="Deployments" problem={problem}>
      <div className={styles.options}>
        {[false, true].map((restricted) => (
          <label key={String(restricted)} className={styles.option}>
            <input
              type="radio"
              name={name}
              checked={restricted === isRestricted}
              onChange={() => onChange({ isRestricted: restricted })}
            />
            {restricted ? 'Selected deployments' : 'All, including future ones'}
          </label>
        ))}
      </div>
      {isRestricted && error && (
        <LoadFailure
          title="Failed to load the deployments"
          as="h3"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {isRestricted && names?.length === 0 && <p className="form-text">There are no deployments yet</p>}
      {isRestricted && names && names.length > 0 && (
        <div className={styles.deployments}>
          {names.map((deployment) => (
            <Checkbox
              key={deployment}
              checked={chosen.includes(deployment)}
              onChange={(isChosen) =>
                onChange({
                  deployments: names.filter((other) => (other === deployment ? isChosen : chosen.includes(other))),
                })
              }
            >
              {deployment}
            </Checkbox>
          ))}
        </div>
      )}
    </ChoiceGroup>
  )
}
