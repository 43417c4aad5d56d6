import { useState, type ComponentProps, type ReactNode } from 'react'
import Dropdown from 'react-bootstrap/Dropdown'
import { Glyph } from './Glyph'
import '../styles/dropdown.scss'
import '../styles/menu.scss'

/** Positioned from the left: from the right, Popper includes the width of the scrollbar, a fixed element does not. */
const POPPER = { strategy: 'fixed' as const, modifiers: [{ name: 'computeStyles', options: { adaptive: false } }] }
const DOTS = 'M12 5.5v.1M12 12v.1M12 18.5v.1'

type MenuProps = {
  /** Accessible name of its button. */
  label: string
  /** Content of its button; three dots by default. */
  button?: ReactNode
  /** `MenuItem`s. Rendered only while the menu is open. */
  children: ReactNode
  tabIndex?: number
  /** With `onToggle`, the caller holds whether it is open, for example in the store. */
  isOpen?: boolean
  onToggle?: (open: boolean) => void
}

/** A button with a menu of actions. */
export function Menu({ label, button, children, tabIndex, isOpen, onToggle }: MenuProps) {
  const [isOpenHere, setOpenHere] = useState(false)
  const open = isOpen ?? isOpenHere
  return (
    <Dropdown show={open} align="end" onToggle={(next) => (onToggle ?? setOpenHere)(next)}>
      <Dropdown.Toggle
        as="button"
        bsPrefix={button === undefined ? 'menu-dots' : 'menu-button'}
        type="button"
        tabIndex={tabIndex}
        aria-label={label}
        title={button === undefined ? label : undefined}
      >
        {button ?? <Glyph path={DOTS} size={20} />}
      </Dropdown.Toggle>
      {open && (
        <Dropdown.Menu className="menu" popperConfig={POPPER}>
          {children}
        </Dropdown.Menu>
      )}
    </Dropdown>
  )
}

type MenuItemProps = {
  children: ReactNode
  onClick: () => void
  /** For actions that remove something. */
  danger?: boolean
  /** Why it cannot be chosen now, as a sentence; shown below it. */
  disabledBecause?: string | undefined
}

export function MenuItem({ children, onClick, danger = false, disabledBecause }: MenuItemProps) {
  return (
    <Dropdown.Item
      as={ItemButton}
      className={danger ? 'danger' : undefined}
      isDisabled={disabledBecause !== undefined}
      onClick={(event) => {
        if (disabledBecause === undefined) onClick()
        else event.stopPropagation()
      }}
    >
      {children}
      {disabledBecause !== undefined && <small>{disabledBecause}</small>}
    </Dropdown.Item>
  )
}

/** Sets `aria-disabled` itself: an item of React Bootstrap replaces what it is given. */
function ItemButton({ isDisabled, ...button }: ComponentProps<'button'> & { isDisabled: boolean }) {
  return <button {...button} type="button" aria-disabled={isDisabled || undefined} />
}
