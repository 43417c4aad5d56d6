import { screen, waitFor } from '@testing-library/react'
import { tokenOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

beforeEach(() => void network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null }))

async function rendered() {
  const app = renderApp('/no/such/page', { signedInAs: 'ann' })
  const button = await screen.findByRole('button', { name: 'Your account' })
  return { ...app, button }
}

const items = () => screen.queryAllByRole('menuitem').map((item) => item.textContent)

test('the user menu focuses its first item when opened; Escape closes it and returns focus to the button', async () => {
  const { button, user } = await rendered()
  expect(button).toHaveAttribute('aria-expanded', 'false')
  expect(items()).toEqual([])
  await user.click(button)
  expect(button).toHaveAttribute('aria-expanded', 'true')
  expect(items()).toEqual(expect.arrayContaining(['Your sessions', 'Change password']))
  expect(screen.getByRole('menuitem', { name: 'Your sessions' })).toHaveFocus()
  await user.keyboard('{Escape}')
  expect(items()).toEqual([])
  expect(button).toHaveFocus()
})

test('the user menu shows the username from the token', async () => {
  const { user } = renderApp('/no/such/page', { token: tokenOf('7', { name: 'ann' }) })
  await user.click(await screen.findByRole('button', { name: 'Your account' }))
  expect(screen.getByText('Signed in as')).toHaveTextContent(/^Signed in as ann$/)
  expect(screen.getByRole('menu', { name: 'Your account' })).toHaveAccessibleDescription('Signed in as ann')
})

test('the user menu has no username line when the token has no name', async () => {
  const { button, user } = await rendered()
  await user.click(button)
  expect(screen.getByRole('menu', { name: 'Your account' })).not.toHaveAccessibleDescription()
  expect(screen.queryByText(/Signed in as/)).not.toBeInTheDocument()
})

test('arrow keys, Home and End move through the menu with wrap-around, and open it from its button', async () => {
  const { button, user } = await rendered()
  button.focus()
  await user.keyboard('{ArrowDown}')
  const all = screen.getAllByRole('menuitem')
  expect(all[0]).toHaveFocus()
  await user.keyboard('{ArrowDown}')
  expect(all[1]).toHaveFocus()
  await user.keyboard('{End}')
  expect(all.at(-1)).toHaveFocus()
  await user.keyboard('{ArrowDown}')
  expect(all[0]).toHaveFocus()
  await user.keyboard('{ArrowUp}')
  expect(all.at(-1)).toHaveFocus()
  await user.keyboard('{Home}')
  expect(all[0]).toHaveFocus()
})

test('a click elsewhere or Tab closes the user menu', async () => {
  const { button, user } = await rendered()
  await user.click(button)
  await user.click(screen.getByRole('main'))
  expect(items()).toEqual([])
  await user.click(button)
  await user.tab()
  expect(items()).toEqual([])
})

test('a dialog opened from the user menu returns focus to the menu button and handles its own keys', async () => {
  const { button, user, store } = await rendered()
  await user.click(button)
  await user.click(screen.getByRole('menuitem', { name: 'Change password' }))
  expect(await screen.findByRole('dialog', { name: 'Change Password' })).toBeVisible()
  expect(items()).toEqual([])
  await user.keyboard('{ArrowDown}')
  expect(items()).toEqual([])
  expect(store.getState().account).toMatchObject({ menuOpen: false, dialog: 'password' })
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(button).toHaveFocus()
})

test('the user menu is hidden without a session', async () => {
  renderApp('/no/such/page')
  await screen.findByRole('heading', { name: 'Page Not Found' })
  expect(screen.queryByRole('button', { name: 'Your account' })).not.toBeInTheDocument()
})

test('§2 the Logout button is next to the user menu', async () => {
  await rendered()
  expect(screen.getByRole('button', { name: 'Logout' })).toHaveAttribute('data-leaves', 'session')
})

test('the third-party notices open in a new tab', async () => {
  const open = jest.spyOn(window, 'open').mockReturnValue(null)
  const { button, user } = await rendered()
  await user.click(button)
  await user.click(screen.getByRole('menuitem', { name: 'Third-party notices' }))
  expect(open).toHaveBeenCalledWith('/third-party-notices.txt', '_blank', 'noopener')
  open.mockRestore()
})
