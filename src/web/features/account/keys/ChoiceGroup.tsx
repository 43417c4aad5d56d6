import type { ReactNode } from 'react'
import { useId } from 'react'

type ChoiceGroupProps = { label: string; problem?: string | undefined; children: ReactNode }

/** A labelled group of checkboxes or radio buttons, with a validation error. */
export function ChoiceGroup({ label, problem, children }: ChoiceGroupProps) {
  const id = useId()
  return (
    <div role="group" aria-labelledby={id} aria-describedby={problem && `${id}-problem`}>
      <p id={id} className="form-label">
        {label}
      </p>
      {children}
      {problem && (
        <p id={`${id}-problem`} className="form-text broken" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
