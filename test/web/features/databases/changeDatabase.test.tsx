import { act, screen, waitFor, within } from '@testing-library/react'
import { credentialsIn, renderDatabases } from '../../../support/web/databasesPage'
import { notifications } from '../../../support/web/notifications'
import { databaseOf } from '../../../support/web/factories'

const withPassword = (name: string, password: string) =>
  databaseOf(name, { credentials: { ...databaseOf(name).credentials, password } })

async function asked(button: string, title: string, lists = {}) {
  const app = renderDatabases(lists)
  await app.user.click(await screen.findByRole('button', { name: button }))
  const dialog = await screen.findByRole('dialog', { name: title })
  return { ...app, dialog, confirm: (name: string) => app.user.click(within(dialog).getByRole('button', { name })) }
}

describe('§2 deleting a database', () => {
  const begin = () => asked('Delete shop', 'Delete Database', { sql: [databaseOf('lobby'), databaseOf('shop')] })

  test('asks for confirmation; Cancel deletes nothing and restores focus', async () => {
    const { dialog, network, confirm } = await begin()
    const { calls } = network.delete('/api/database/sql/shop').answers({})
    expect(dialog).toHaveTextContent('Are you sure you want to delete the SQL database "shop"?')
    expect(dialog).toHaveTextContent('This action cannot be undone.')
    await confirm('Cancel')
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
    expect(screen.getByRole('button', { name: 'Delete shop' })).toHaveFocus()
    expect(calls).toHaveLength(0)
  })

  test('§8 keeps the dialog while deleting, then removes the card and moves focus into its section', async () => {
    const { dialog, network, user, confirm } = await begin()
    const { calls, release } = network.delete('/api/database/sql/shop').answersLater({})
    await confirm('Delete')
    await user.click(within(dialog).getByRole('button', { name: 'Deleting...' }))
    await user.keyboard('{Escape}')
    expect(dialog).toBeVisible()
    // The response removes the card, not the next list.
    network.get('/api/database/sql').answersLater({})
    release()
    await waitFor(() => expect(screen.queryByRole('article', { name: 'shop' })).not.toBeInTheDocument())
    expect(screen.getByRole('article', { name: 'lobby' })).toBeVisible()
    expect(notifications()).toEqual(['Successfully deleted SQL database shop'])
    await waitFor(() => expect(screen.getByRole('button', { name: 'Create SQL database' })).toHaveFocus())
    expect(calls).toHaveLength(1)
  })

  test.each([
    ['the server message', { message: 'It is being changed' }, 'It is being changed'],
    ['a default message when the server sends none', {}, 'Failed to delete SQL database shop'],
  ])('§8 shows %s on failure, keeps the card and refetches the list', async (_case, body, text) => {
    const { dialog, network, confirm } = await begin()
    network.delete('/api/database/sql/shop').answers(500, body)
    const { calls } = network.get('/api/database/sql').answers({ databases: [databaseOf('shop')] })
    await confirm('Delete')
    expect(await within(dialog).findByRole('alert')).toHaveTextContent(text)
    expect(notifications()).toEqual(['Failed to delete SQL database shop'])
    expect(screen.getByRole('article', { name: 'shop', hidden: true })).toBeInTheDocument()
    await waitFor(() => expect(calls).toHaveLength(1))
  })

  test('does not affect a database of the same name and another type', async () => {
    const { network, confirm, section } = await asked('Delete both', 'Delete Database', {
      sql: [],
      mongo: [databaseOf('both')],
    })
    const { calls } = network.delete('/api/database/mongo/both').answers({})
    network.get('/api/database/mongo').answers({ databases: [] })
    await confirm('Delete')
    expect(await within(await section('MongoDB Databases')).findByText('No MONGO databases yet')).toBeVisible()
    expect(notifications()).toEqual(['Successfully deleted MONGO database both'])
    expect(calls).toHaveLength(1)
  })

  test('resets the expanded state, so that a new database of the same name starts collapsed', async () => {
    const { network, user, store, dialog } = await begin()
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
    await user.click(screen.getByRole('button', { name: 'shop' }))
    expect(store.getState().databases?.expanded).toEqual(['sql/shop'])
    await user.click(screen.getByRole('button', { name: 'Delete shop' }))
    network.delete('/api/database/sql/shop').answers({})
    await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
    await waitFor(() => expect(store.getState().databases?.expanded).toEqual([]))
  })

  test('URL-encodes the name', async () => {
    const { network, confirm } = await asked('Delete a/b?c', 'Delete Database', { sql: [databaseOf('a/b?c')] })
    const { calls } = network.delete('/api/database/sql/a%2Fb%3Fc').answers({})
    await confirm('Delete')
    await waitFor(() => expect(calls).toHaveLength(1))
  })
})

describe('§2 resetting a password', () => {
  const begin = () => asked('Reset password of shop', 'Reset Password', { sql: [databaseOf('shop')] })

  test('asks for confirmation and explains the consequences', async () => {
    const { dialog, network, confirm } = await begin()
    const { calls } = network.patch('/api/database/sql/shop').answers({})
    expect(dialog).toHaveTextContent('Are you sure you want to reset the password of the SQL database "shop"?')
    expect(dialog).toHaveTextContent('The old password stops working at once')
    await confirm('Cancel')
    expect(calls).toHaveLength(0)
    expect(screen.getByRole('button', { name: 'Reset password of shop' })).toHaveFocus()
  })

  test('§7, §8 opens the card on its credentials with the new password masked and never shows the old password', async () => {
    const { network, user, confirm, card } = await begin()
    const { calls } = network.patch('/api/database/sql/shop').answers(withPassword('shop', 'brand-new'))
    const list = network.get('/api/database/sql').answersLater({ databases: [withPassword('shop', 'brand-new')] })
    await confirm('Reset')
    const shop = await card('shop')
    await waitFor(() => expect(credentialsIn(shop).Password).toBe('••••••••••••Hidden'))
    expect(screen.getByRole('button', { name: 'Reset password of shop' })).toHaveFocus()
    // Known from the response: the list is still in flight.
    await user.click(within(shop).getByRole('button', { name: 'Show password' }))
    expect(credentialsIn(shop).Password).toBe('brand-new')
    list.release()
    await waitFor(() => expect(list.calls).toHaveLength(1))
    expect(notifications()).toEqual(['Successfully reset password for SQL database shop'])
    expect(calls.map(({ body }) => body)).toEqual([undefined])
  })

  test('masks the new password even if the old one was revealed, and switches from Connection Info to Credentials', async () => {
    const { network, user, open } = renderDatabases()
    const shop = await open('shop')
    await user.click(within(shop).getByRole('button', { name: 'Show password' }))
    await user.click(within(shop).getByRole('tab', { name: 'Connection Info' }))
    expect(shop).toHaveTextContent('password-of-shop')
    network.patch('/api/database/sql/shop').answers(withPassword('shop', 'brand-new'))
    network.get('/api/database/sql').answers({ databases: [withPassword('shop', 'brand-new')] })
    await user.click(within(shop).getByRole('button', { name: 'Reset password of shop' }))
    await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Reset' }))
    await waitFor(() =>
      expect(within(shop).getByRole('tab', { name: 'Credentials' })).toHaveAttribute('aria-selected', 'true'),
    )
    expect(credentialsIn(shop).Password).toBe('••••••••••••Hidden')
    expect(shop).not.toHaveTextContent('brand-new')
  })

  test('ignores a list requested before the reset, so that the old password does not return', async () => {
    const { network, confirm, card, user } = await begin()
    const late = network.get('/api/database/sql').answersLater({ databases: [databaseOf('shop')] })
    act(() => void document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
    await waitFor(() => expect(late.calls).toHaveLength(1))
    network.patch('/api/database/sql/shop').answers(withPassword('shop', 'brand-new'))
    await confirm('Reset')
    const shop = await card('shop')
    await user.click(await within(shop).findByRole('button', { name: 'Show password' }))
    expect(credentialsIn(shop).Password).toBe('brand-new')
    const fresh = network.get('/api/database/sql').answersLater({ databases: [withPassword('shop', 'brand-new')] })
    late.release()
    await waitFor(() => expect(fresh.calls).toHaveLength(1))
    expect(shop).not.toHaveTextContent('password-of-shop')
    await user.click(within(shop).getByRole('button', { name: 'Copy password' }))
    expect(await within(shop).findByText('Copied')).toBeInTheDocument()
    expect(jest.mocked(navigator.clipboard.writeText).mock.lastCall).toEqual(['brand-new'])
    fresh.release()
  })

  test('shows no password if the response has none, until the list arrives', async () => {
    const { network, confirm, card, user } = await begin()
    network.patch('/api/database/sql/shop').answers({})
    const { release } = network
      .get('/api/database/sql')
      .answersLater({ databases: [withPassword('shop', 'brand-new')] })
    await confirm('Reset')
    const shop = await card('shop')
    await waitFor(() => expect(credentialsIn(shop)).toMatchObject({ Username: 'shop', Password: 'Not known' }))
    release()
    await user.click(await within(shop).findByRole('button', { name: 'Show password' }))
    expect(credentialsIn(shop).Password).toBe('brand-new')
  })

  test.each([
    ['the server message', { message: 'There is no database named "shop".' }, 'There is no database named "shop".'],
    ['a default message when the server sends none', {}, 'Failed to reset password for SQL database shop'],
  ])('§8 shows %s on failure and keeps the old password', async (_case, body, text) => {
    const { network, dialog, confirm, user, card } = await begin()
    network.patch('/api/database/sql/shop').answers(404, body)
    await confirm('Reset')
    expect(await within(dialog).findByRole('alert')).toHaveTextContent(text)
    expect(notifications()).toEqual(['Failed to reset password for SQL database shop'])
    await user.keyboard('{Escape}')
    await user.click(within(await card('shop')).getByRole('button', { name: 'shop' }))
    await user.click(screen.getByRole('button', { name: 'Show password' }))
    expect(credentialsIn(await card('shop')).Password).toBe('password-of-shop')
  })

  test('keeps the dialog open and sends one request while resetting', async () => {
    const { network, dialog, user, confirm } = await begin()
    const { calls, release } = network.patch('/api/database/sql/shop').answersLater(databaseOf('shop'))
    await confirm('Reset')
    await user.click(within(dialog).getByRole('button', { name: 'Resetting...' }))
    await user.keyboard('{Escape}')
    expect(dialog).toBeVisible()
    release()
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
    expect(calls).toHaveLength(1)
  })
})

test('a late response does not close a dialog opened in the meantime', async () => {
  const { network, user, store, confirm } = await asked('Delete shop', 'Delete Database')
  const { release } = network.delete('/api/database/sql/shop').answersLater({})
  await confirm('Delete')
  // The dialog blocks clicks: navigate as the Back button of the browser would.
  network.shows([])
  await user.click(screen.getByRole('link', { name: 'Overview', hidden: true }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  await user.click(screen.getByRole('link', { name: 'Databases' }))
  await user.click(await screen.findByRole('button', { name: 'Create SQL database' }))
  release()
  await waitFor(() => expect(notifications()).toEqual(['Successfully deleted SQL database shop']))
  expect(store.getState().databases?.dialog).toEqual({ kind: 'create', type: 'sql', name: '' })
})

test('the expanded databases are reset when the session ends', async () => {
  const { network, user, open, store } = renderDatabases()
  await open('shop')
  network.post('/api/auth/logout').answers({})
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await waitFor(() => expect(store.getState().databases?.expanded).toEqual([]))
})
