import { useId } from 'react'
import type { Scope } from '../../../../contract/access'
import { ChoiceGroup } from './ChoiceGroup'
import { scopes } from './scopes'
import styles from './keys.module.scss'

type KeyScopesProps = {
  offered: Scope[]
  chosen: Scope[]
  problem: string | undefined
  onChange: (chosen: Scope[]) => void
}

export function KeyScopes({ offered, chosen, problem, onChange }: KeyScopesProps) {
  const id = useId()
  return (
    <ChoiceGroup label="Scopes" problem={problem}>
      <div className={styles.choices}>
        {offered.map((scope) => (
          <label key={scope} className={styles.choice}>
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              aria-labelledby={`${id}-${scope}`}
              aria-describedby={`${id}-${scope}-meaning`}
              onChange={({ target }) =>
                onChange(offered.filter((other) => (other === scope ? target.checked : chosen.includes(other))))
              }
            />
            <span>
              <strong id={`${id}-${scope}`}>{scopes[scope].name}</strong>
              <span id={`${id}-${scope}-meaning`}>{scopes[scope].meaning}</span>
            </span>
          </label>
        ))}
      </div>
    </ChoiceGroup>
  )
}
