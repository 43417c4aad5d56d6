import type { ReactNode } from 'react'
import styles from './logButton.module.scss'

type LogButtonProps = {
  label: string
  pressed?: boolean
  disabled?: boolean
  onClick: () => unknown
  children: ReactNode
}

/** An icon button of the console. The label is its tooltip and accessible name. */
export function LogButton({ label, pressed, disabled, onClick, children }: LogButtonProps) {
  return (
    <button
      type="button"
      className={`${styles.logButton} ${styles.iconOnly}`}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      aria-disabled={disabled}
      // Keeps the selection in the log and the focus in the command line.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => !disabled && onClick()}
    >
      {children}
    </button>
  )
}
