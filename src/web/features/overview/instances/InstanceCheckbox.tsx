import { useDispatch, useSelector } from 'react-redux'
import type { Instance } from '../../../../contract/instance'
import { MAX_CONSOLES } from '../../../addresses'
import { missingRight, useAccess } from '../../../api/useAccess'
import { instanceDeselected, instanceSelected, selectSelected } from '../overviewSlice'
import styles from './instanceList.module.scss'

/** Selects an instance, to open its console beside others. */
export function InstanceCheckbox({ instance: { uid, name, deployment } }: { instance: Instance }) {
  const selected = useSelector(selectSelected) ?? []
  const { may } = useAccess()
  const dispatch = useDispatch()
  const isSelected = selected.includes(uid)
  const isFull = selected.length >= MAX_CONSOLES && !isSelected
  const full = isFull ? `${MAX_CONSOLES} instances are selected already` : undefined
  const disabledBecause = may('console', deployment) ? full : missingRight('console')
  return (
    <label className={styles.checkbox} title={disabledBecause}>
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        // Not disabled, because a disabled checkbox cannot be focused to show the reason.
        aria-disabled={disabledBecause !== undefined || undefined}
        checked={isSelected}
        onChange={() =>
          disabledBecause === undefined && dispatch(isSelected ? instanceDeselected(uid) : instanceSelected(uid))
        }
      />
    </label>
  )
}
