import { useId } from 'react'
import type { DeploymentType } from '../../../contract/deployment'
import { DEPLOYMENT_TYPES } from '../../../contract/pageRules'
import { appearances } from './deploymentType'
import styles from './deployments.module.scss'

/** Without proxies: there is at most one, and its empty section has its own button. */
const choices = DEPLOYMENT_TYPES.filter((type) => type !== 'proxy')

export function TypeChoice({ chosen, onChoose }: { chosen: DeploymentType; onChoose: (type: DeploymentType) => void }) {
  const id = useId()
  return (
    <div>
      <p id={id} className="form-label">
        Type
      </p>
      <div role="group" aria-labelledby={id} aria-describedby={`${id}-explanation`} className={styles.typeChoice}>
        {choices.map((type) => (
          <button
            key={type}
            type="button"
            className={type === chosen ? 'btn btn-primary' : 'btn btn-outline-secondary'}
            aria-pressed={type === chosen}
            onClick={() => onChoose(type)}
          >
            {appearances[type].name}
          </button>
        ))}
      </div>
      <p id={`${id}-explanation`} className={`form-text ${styles.typeExplanation}`}>
        {appearances[chosen].explanation}
      </p>
    </div>
  )
}
