import type { KeyboardEvent } from 'react'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { useSelector } from 'react-redux'
import { Link, NavLink, useLocation } from 'react-router-dom'
import { useAccess } from '../../api/useAccess'
import { selectIsAdmin, selectSignedIn } from '../../features/auth/sessionSlice'
import { ProblemBell } from '../../features/problems/ProblemBell'
import { ActionIcon } from '../../ui/ActionIcon'
import { Icon } from '../../ui/Icon'
import { Logo } from '../../ui/Logo'
import { keepDrafts } from '../../drafts/keepDrafts'
import { useAppStore } from '../hooks'
import { SignOutButton } from './SignOutButton'
import { commandsOpened } from '../palette/paletteSlice'
import { menuClosed, menuToggled, selectMenuOpen } from '../routing/navigationSlice'
import { RealtimeDot } from './RealtimeDot'
import { ThemeChoice } from './ThemeChoice'
import { UserMenu } from './UserMenu'

const links = [
  { to: '/', label: 'Overview', icon: 'activity' },
  { to: '/deployments', label: 'Deployments', icon: 'layers' },
  { to: '/files', label: 'Files', icon: 'folder' },
] as const
const databasesLink = { to: '/databases', label: 'Databases', icon: 'database' } as const
const adminLink = { to: '/admin', label: 'Admin', icon: 'shield' } as const

export function Header() {
  const isAdmin = useSelector(selectIsAdmin)
  const { isLimited } = useAccess()
  const signedIn = useSelector(selectSignedIn)
  const open = useSelector(selectMenuOpen)
  const store = useAppStore()
  const { dispatch } = store
  const { pathname } = useLocation()
  const menuButton = useRef<HTMLButtonElement>(null)

  // A layout effect runs before the effects of the page, whose editors look for their drafts.
  useLayoutEffect(() => void dispatch(keepDrafts(store)), [dispatch, store])

  useEffect(() => {
    dispatch(menuClosed())
  }, [pathname, dispatch])

  const onKeyDown = ({ key, target, currentTarget }: KeyboardEvent) => {
    // React events also bubble from dialogs, which are in portals.
    if (!open || key !== 'Escape' || !currentTarget.contains(target as Node)) return
    menuButton.current?.focus()
    dispatch(menuClosed())
  }

  return (
    <header className="header" data-bs-theme="dark">
      {/* The focused links and buttons inside handle the keys; the events bubble up to here. */}
      {/* eslint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div className="header-bar" onKeyDown={onKeyDown}>
        <Link to="/" className="brand">
          <Logo />
          Quarterdeck
        </Link>
        {signedIn && <RealtimeDot />}
        {/* On phones this is at the lower edge. */}
        <nav aria-label="Main" className="header-nav">
          {[...links, ...(isLimited ? [] : [databasesLink]), ...(isAdmin ? [adminLink] : [])].map(
            ({ to, label, icon }) => (
              <NavLink key={to} to={to} end={to === '/'} className="header-link">
                <ActionIcon name={icon} />
                {label}
              </NavLink>
            ),
          )}
        </nav>
        {signedIn && (
          <button
            type="button"
            className="header-button header-search"
            aria-label="Command palette"
            title="Command palette (Ctrl or Cmd + K)"
            onClick={() => dispatch(commandsOpened())}
          >
            <ActionIcon name="search" />
          </button>
        )}
        {signedIn && <ProblemBell />}
        <button
          ref={menuButton}
          type="button"
          className="header-button header-menu-button"
          aria-expanded={open}
          aria-controls="menu"
          aria-label="Menu"
          onClick={() => dispatch(menuToggled())}
        >
          <Icon name={open ? 'close' : 'menu'} size={22} />
        </button>
        <div id="menu" className={open ? 'header-menu open' : 'header-menu'}>
          <ThemeChoice />
          {signedIn && <UserMenu />}
          {signedIn && <SignOutButton />}
        </div>
      </div>
    </header>
  )
}
