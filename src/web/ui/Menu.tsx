import {
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  type ComponentProps,
  type KeyboardEvent,
  type ReactNode,
} from 'react'
import Dropdown from 'react-bootstrap/Dropdown'
import { Glyph } from './Glyph'
import { Icon } from './Icon'

/** Options of Popper for a menu that stays in the part of the window that the header and its links do not cover. */
function popperConfig() {
  const { scrollPaddingTop, scrollPaddingBottom } = getComputedStyle(document.documentElement)
  const padding = { top: parseFloat(scrollPaddingTop) || 0, bottom: parseFloat(scrollPaddingBottom) || 0 }
  return {
    strategy: 'fixed' as const,
    modifiers: [
      // From the left: from the right, Popper includes the width of the scrollbar, a fixed element does not.
      { name: 'computeStyles', options: { adaptive: false } },
      { name: 'flip', options: { padding } },
      // Where there is room neither below nor above, the menu covers its button.
      { name: 'preventOverflow', options: { padding, altAxis: true } },
    ],
  }
}
const DOTS = 'M12 5.5v.1M12 12v.1M12 18.5v.1'

type MenuProps = {
  /** Accessible name of its button. */
  label: string
  /** Content of its button; three dots by default. */
  button?: ReactNode
  /** Replaces the default classes of the button. */
  className?: string
  /** Shown above the items; describes the menu. */
  heading?: ReactNode
  /** `MenuItem`s. Rendered only while the menu is open. */
  children: ReactNode
  tabIndex?: number
  /** With `onToggle`, the caller controls the open state, for example in the store. */
  isOpen?: boolean
  onToggle?: (open: boolean) => void
}

/** A button with a menu of actions. Follows the menu button pattern of the WAI-ARIA Authoring Practices. */
export function Menu({ label, button, className, heading, children, tabIndex, isOpen, onToggle }: MenuProps) {
  const headingId = useId()
  const [isOpenHere, setOpenHere] = useState(false)
  const open = isOpen ?? isOpenHere
  const toggle = onToggle ?? setOpenHere
  const menu = useRef<HTMLDivElement>(null)
  const popper = useMemo(() => (open ? popperConfig() : undefined), [open])

  useEffect(() => {
    if (!open) return
    const items = itemsOf(menu.current)
    const first = items.find((item) => item.getAttribute('aria-checked') === 'true') ?? items[0]
    // The menu's position is not computed yet, so the page must not scroll to it.
    first?.focus({ preventScroll: true })
  }, [open])

  return (
    <Dropdown show={open} align="end" focusFirstItemOnShow={false} onToggle={toggle}>
      <Dropdown.Toggle
        as="button"
        bsPrefix={className ?? (button === undefined ? 'menu-dots' : 'menu-button')}
        type="button"
        tabIndex={tabIndex}
        aria-label={label}
        aria-haspopup="menu"
        title={button === undefined || className !== undefined ? label : undefined}
      >
        {button ?? <Glyph path={DOTS} size={20} />}
      </Dropdown.Toggle>
      {open && (
        <Dropdown.Menu
          ref={menu}
          className="menu"
          role="menu"
          aria-describedby={heading ? headingId : undefined}
          popperConfig={popper}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return moveFocus(event)
            // Stops the event, because the menu may be inside the header's menu on a phone, and one Escape must close
            // only one.
            event.stopPropagation()
            toggle(false)
          }}
        >
          {heading && (
            <p id={headingId} role="presentation" className="menu-heading">
              {heading}
            </p>
          )}
          {children}
        </Dropdown.Menu>
      )}
    </Dropdown>
  )
}

const itemsOf = (menu: Element | null) => [...(menu?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]

/** Moves the focus by arrow keys, which wrap around, Home, End, and the first letter of an item. */
function moveFocus(event: KeyboardEvent<HTMLElement>) {
  const { key, ctrlKey, metaKey, altKey, currentTarget } = event
  if (ctrlKey || metaKey || altKey) return
  const items = itemsOf(currentTarget)
  const at = items.findIndex((item) => item === document.activeElement)
  const to = { ArrowDown: at + 1, ArrowUp: Math.max(at, 0) - 1, Home: 0, End: -1 }[key]
  const next = to === undefined ? itemWithLetter(items, at, key) : items.at(to % items.length)
  if (!next) return
  next.focus()
  event.preventDefault()
  // Stops the event, because the dropdown or a list around the menu would move the focus too.
  event.stopPropagation()
}

/** The next item whose text begins with a letter. */
function itemWithLetter(items: HTMLElement[], at: number, key: string): HTMLElement | undefined {
  if (key.length !== 1 || key === ' ') return undefined
  const isFound = ({ textContent }: HTMLElement) => textContent.trim().toLowerCase().startsWith(key.toLowerCase())
  return [...items.slice(at + 1), ...items.slice(0, at + 1)].find(isFound)
}

type MenuItemProps = {
  children: ReactNode
  onClick: () => void
  /** For actions that remove something. */
  danger?: boolean
  /** Why the item is disabled, as a sentence; shown below it. */
  disabledBecause?: string | undefined
  /** For one of several choices: whether it is selected. */
  isChosen?: boolean
}

export function MenuItem({ children, onClick, danger = false, disabledBecause, isChosen }: MenuItemProps) {
  const id = useId()
  return (
    <Dropdown.Item
      as={ItemButton}
      className={danger ? 'danger' : undefined}
      isDisabled={disabledBecause !== undefined}
      isChosen={isChosen}
      aria-labelledby={`${id}-label`}
      aria-describedby={disabledBecause === undefined ? undefined : `${id}-reason`}
      onClick={(event) => {
        if (disabledBecause === undefined) onClick()
        else event.stopPropagation()
      }}
    >
      <span id={`${id}-label`}>{children}</span>
      {isChosen && <Icon name="check" size={16} />}
      {disabledBecause !== undefined && <small id={`${id}-reason`}>{disabledBecause}</small>}
    </Dropdown.Item>
  )
}

type ItemButtonProps = ComponentProps<'button'> & { isDisabled: boolean; isChosen: boolean | undefined }

/**
 * Sets `aria-disabled` itself, because React Bootstrap's item overrides the given value. Disabled items can be focused,
 * so that screen readers read the reason. Items are not in the tab order: Tab leaves the menu.
 */
function ItemButton({ isDisabled, isChosen, ...button }: ItemButtonProps) {
  return (
    <button
      {...button}
      type="button"
      role={isChosen === undefined ? 'menuitem' : 'menuitemradio'}
      tabIndex={-1}
      aria-checked={isChosen}
      aria-disabled={isDisabled || undefined}
    />
  )
}
