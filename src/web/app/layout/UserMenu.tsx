import { Suspense } from 'react'
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
import { Menu, MenuItem } from '../../ui/Menu'

const SessionsDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'sessions' */ '../../features/account/SessionsDialog')).SessionsDialog,
)
const PasswordDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'password' */ '../../features/account/PasswordDialog')).PasswordDialog,
)

const ExportDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'export-log' */ '../../actionLog/ExportDialog')).ExportDialog,
)

export function UserMenu() {
  const isOpen = useSelector(selectUserMenuOpen)
  const username = useSelector(selectSession)?.username
  const dispatch = useDispatch()
  const items = useItems()

  return (
    <div className="user-menu">
      <Menu
        label="Your account"
        className="header-button"
        button={<ActionIcon name="person" />}
        // Another server's token may not hold the username.
        heading={
          username && (
            <>
              Signed in as <strong>{username}</strong>
            </>
          )
        }
        isOpen={isOpen}
        onToggle={(open) => dispatch(open ? userMenuOpened() : userMenuClosed())}
      >
        {items.map(({ label, icon, choose }) => (
          <MenuItem key={label} onClick={choose}>
            <ActionIcon name={icon} />
            {label}
          </MenuItem>
        ))}
      </Menu>
      <AccountDialogs />
    </div>
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
    ...(isAdmin ? [{ label: 'Activity', icon: 'activity', choose: () => void navigate('/activity') } as const] : []),
    { label: 'Export action log', icon: 'log', choose: () => dispatch(accountDialogOpened('export')) },
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
