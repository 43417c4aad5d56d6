import type { KeyboardEvent } from 'react'
import { Suspense, useEffect, useId, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import { basePath } from '../../basePath'
import { lazyEarly } from '../../chunks'
import {
  accountDialogOpened,
  selectAccountDialog,
  selectUserMenuOpen,
  userMenuClosed,
  userMenuOpened,
} from '../../features/account/accountSlice'
import { selectIsAdmin, selectSession } from '../../features/auth/sessionSlice'
import { ActionIcon } from '../../ui/ActionIcon'

const SessionsDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'sessions' */ '../../features/account/SessionsDialog')).SessionsDialog,
)
const PasswordDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'password' */ '../../features/account/PasswordDialog')).PasswordDialog,
)

const ExportDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'export-log' */ '../../actionLog/ExportDialog')).ExportDialog,
)

/** Follows the menu button pattern of the WAI-ARIA Authoring Practices. */
export function UserMenu() {
  const open = useSelector(selectUserMenuOpen)
  const username = useSelector(selectSession)?.username
  const nameId = useId()
  const dispatch = useDispatch()
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)

  const items = useItems()
  const itemElements = () => [...(menu.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]

  useEffect(() => {
    if (!open) return
    itemElements()[0]?.focus()
    const onPointerDown = ({ target }: Event) => {
      if (!menu.current?.contains(target as Node)) dispatch(userMenuClosed())
    }
    document.addEventListener('pointerdown', onPointerDown)
    return () => document.removeEventListener('pointerdown', onPointerDown)
  }, [open, dispatch])

  const close = () => {
    button.current?.focus()
    dispatch(userMenuClosed())
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const all = itemElements()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (open && to !== undefined) {
      event.preventDefault()
      all.at(to % all.length)?.focus()
    } else if (to !== undefined && event.key.startsWith('Arrow')) {
      event.preventDefault()
      dispatch(userMenuOpened())
    } else if (open && event.key === 'Escape') {
      // Otherwise the header's menu would close too.
      event.stopPropagation()
      close()
    } else if (open && event.key === 'Tab') dispatch(userMenuClosed())
  }

  return (
    <>
      {/* The focused button and items inside handle the keys; the events bubble up to here. */}
      {/* eslint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div className="user-menu" ref={menu} onKeyDown={onKeyDown}>
        <button
          ref={button}
          type="button"
          className="header-button"
          aria-label="Your account"
          title="Your account"
          aria-haspopup="menu"
          aria-expanded={open}
          onClick={() => dispatch(open ? userMenuClosed() : userMenuOpened())}
        >
          <ActionIcon name="person" />
        </button>
        {open && (
          <div className="user-menu-panel">
            {/* Another server's token may not hold the username. */}
            {username && (
              <p id={nameId} className="user-menu-name">
                Signed in as <strong>{username}</strong>
              </p>
            )}
            <div
              className="user-menu-items"
              role="menu"
              aria-label="Your account"
              aria-describedby={username && nameId}
            >
              {items.map(({ label, icon, choose }) => (
                <button
                  key={label}
                  type="button"
                  role="menuitem"
                  tabIndex={-1}
                  onClick={() => {
                    // Focuses the button first, so that a dialog returns the focus to it.
                    close()
                    choose()
                  }}
                >
                  <ActionIcon name={icon} />
                  {label}
                </button>
              ))}
            </div>
          </div>
        )}
      </div>
      <AccountDialogs />
    </>
  )
}

function useItems() {
  const isAdmin = useSelector(selectIsAdmin)
  const navigate = useNavigate()
  const dispatch = useDispatch()

  return [
    { label: 'Your sessions', icon: 'devices', choose: () => dispatch(accountDialogOpened('sessions')) },
    { label: 'Change password', icon: 'key', choose: () => dispatch(accountDialogOpened('password')) },
    { label: 'Sign-in methods', icon: 'shield', choose: () => void navigate('/security') },
    { label: 'API keys', icon: 'code', choose: () => void navigate('/keys') },
    { label: 'Export action log', icon: 'log', choose: () => dispatch(accountDialogOpened('export')) },
    ...(isAdmin ? [{ label: 'Activity', icon: 'activity', choose: () => void navigate('/activity') } as const] : []),
    // In a new tab, because the replay page replaces the whole console.
    {
      label: 'Replay action log',
      icon: 'replay',
      choose: () => void window.open(`${basePath()}/replay`, '_blank', 'noopener'),
    },
    {
      label: 'Third-party notices',
      icon: 'log',
      choose: () => void window.open(`${basePath()}/third-party-notices.txt`, '_blank', 'noopener'),
    },
  ] as const
}

function AccountDialogs() {
  const dialog = useSelector(selectAccountDialog)
  return (
    <Suspense>
      {dialog === 'sessions' && <SessionsDialog />}
      {dialog === 'password' && <PasswordDialog />}
      {dialog === 'export' && <ExportDialog />}
    </Suspense>
  )
}
