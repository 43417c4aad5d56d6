import type { ReactNode } from 'react'

type CheckboxProps = {
  checked: boolean
  onChange: (checked: boolean) => void
  /** Why the checkbox is disabled, as a sentence. */
  disabledBecause?: string | undefined
  children: ReactNode
}

/** A checkbox with a label. The label is as tall as a button. */
export function Checkbox({ checked, onChange, disabledBecause, children }: CheckboxProps) {
  return (
    <label className="labelled-checkbox" title={disabledBecause}>
      <input
        type="checkbox"
        checked={checked}
        // Not disabled, because a disabled checkbox cannot be focused to show the reason.
        aria-disabled={disabledBecause !== undefined || undefined}
        onChange={({ target }) => disabledBecause === undefined && onChange(target.checked)}
      />
      <span>{children}</span>
    </label>
  )
}
