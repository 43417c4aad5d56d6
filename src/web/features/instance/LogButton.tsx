import type { ReactNode } from 'react'

type LogButtonProps = {
  label: string
  pressed?: boolean
  disabled?: boolean
  onClick: () => unknown
  children: ReactNode
}

/** A tool of the console: an icon, with its label for who cannot tell. */
export function LogButton({ label, pressed, disabled, onClick, children }: LogButtonProps) {
  return (
    <button
      type="button"
      className="log-button icon-only"
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      aria-disabled={disabled}
      // What is selected in the log stays so, and who types goes on typing.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => !disabled && onClick()}
    >
      {children}
    </button>
  )
}
