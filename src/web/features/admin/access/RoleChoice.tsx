import { useId } from 'react'
import type { Role } from '../../../../contract/access'
import { ROLES } from '../../../../contract/pageRules'
import { roles } from './rights'
import styles from './access.module.scss'

export function RoleChoice({ chosen, onChoose }: { chosen: Role; onChoose: (role: Role) => void }) {
  const id = useId()
  return (
    <div>
      <p id={id} className="form-label">
        Role
      </p>
      <div role="radiogroup" aria-labelledby={id} className={styles.roles}>
        {ROLES.toReversed().map((role) => (
          <label key={role} className={styles.role}>
            <input
              type="radio"
              name={id}
              value={role}
              checked={role === chosen}
              aria-labelledby={`${id}-${role}`}
              aria-describedby={`${id}-${role}-meaning`}
              onChange={() => onChoose(role)}
            />
            <span>
              <strong id={`${id}-${role}`}>{roles[role].name}</strong>
              <span id={`${id}-${role}-meaning`}>{roles[role].meaning}</span>
            </span>
          </label>
        ))}
      </div>
    </div>
  )
}
