import type { ReactNode } from 'react'
import { useId } from 'react'
import type { Grant } from '../../../../contract/access'
import { RIGHTS } from '../../../../contract/pageRules'
import { grantedOf, rights, withAllRights, withRight } from './rights'
import styles from './access.module.scss'

type GrantRowProps = { deployment: string; grants: Grant[]; onChange: (grants: Grant[]) => void }

export function GrantRow({ deployment, grants, onChange }: GrantRowProps) {
  const id = useId()
  const granted = grantedOf(grants, deployment)
  const hasAll = granted.length === RIGHTS.length
  return (
    <div role="group" aria-labelledby={id} className={styles.grant}>
      <span id={id} className={styles.deployment}>
        {deployment}
      </span>
      <Cell
        className={styles.all}
        label={`All rights of ${deployment}`}
        checked={hasAll}
        isMixed={granted.length > 0 && !hasAll}
        onChange={(isGiven) => onChange(withAllRights(grants, deployment, isGiven))}
      >
        All rights
      </Cell>
      {RIGHTS.map((right) => (
        <Cell
          key={right}
          label={`${rights[right].name} on ${deployment}`}
          checked={granted.includes(right)}
          onChange={(isGiven) => onChange(withRight(grants, deployment, right, isGiven))}
        >
          {rights[right].name}
        </Cell>
      ))}
    </div>
  )
}

type CellProps = {
  label: string
  className?: string | undefined
  checked: boolean
  isMixed?: boolean
  onChange: (checked: boolean) => void
  children: ReactNode
}

/** A checkbox that fills its cell. `isMixed`: only some of the rights that it represents are chosen. */
function Cell({ label, className = '', checked, isMixed = false, onChange, children }: CellProps) {
  return (
    <label className={`${styles.cell} ${className}`}>
      <input
        type="checkbox"
        ref={(box) => {
          if (box) box.indeterminate = isMixed
        }}
        checked={checked}
        aria-label={label}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span aria-hidden="true">{children}</span>
    </label>
  )
}
