import { useEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Link, NavLink, useLocation } from 'react-router-dom'
import { selectIsAdmin, selectSignedIn } from '../features/auth/sessionSlice'
import { Icon } from '../ui/Icon'
import { Logo } from '../ui/Logo'
import { LogoutButton } from './LogoutButton'
import { menuClosed, menuToggled, selectMenuOpen } from './navigationSlice'
import { RealtimeDot } from './RealtimeDot'
import { ThemeChoice } from './ThemeChoice'

const links = [
  { to: '/', label: 'Overview' },
  { to: '/deployments', label: 'Deployments' },
  { to: '/files', label: 'Files' },
  { to: '/databases', label: 'Databases' },
]
const adminLink = { to: '/admin', label: 'Admin' }

export function Header() {
  const isAdmin = useSelector(selectIsAdmin)
  const signedIn = useSelector(selectSignedIn)
  const open = useSelector(selectMenuOpen)
  const dispatch = useDispatch()
  const { pathname } = useLocation()

  useEffect(() => {
    dispatch(menuClosed())
  }, [pathname, dispatch])

  return (
    <header className="header" data-bs-theme="dark">
      <div className="header-bar">
        <Link to="/" className="brand">
          <Logo />
          Quarterdeck
        </Link>
        {signedIn && <RealtimeDot />}
        <button
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
          <nav aria-label="Main">
            {[...links, ...(isAdmin ? [adminLink] : [])].map(({ to, label }) => (
              <NavLink key={to} to={to} end={to === '/'} className="header-link">
                {label}
              </NavLink>
            ))}
          </nav>
          <div className="header-actions">
            <ThemeChoice />
            {signedIn && <LogoutButton />}
          </div>
        </div>
      </div>
    </header>
  )
}
