import type { ReactNode } from 'react'
import '../../styles/checkbox.scss'

/** A checkbox with a label. The label is as tall as a button. */
export function Checkbox({
  checked,
  onChange,
  children,
}: {
  checked: boolean
  onChange: (checked: boolean) => void
  children: ReactNode
}) {
  return (
    <label className="labelled-checkbox">
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      <span>{children}</span>
    </label>
  )
}
