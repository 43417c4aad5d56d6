import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { DatabaseType } from '../../../../src/contract/database'
import { credentialsIn, renderDatabases } from '../../../support/web/databasesPage'
import { notifications } from '../../../support/web/notifications'
import { databaseOf } from '../../../support/web/factories'

const MESSAGE = 'Database name can only contain letters, numbers, dashes, and underscores'

async function opened(type: DatabaseType = 'sql', lists = {}) {
  const app = renderDatabases(lists)
  const create = app.network.post(`/api/database/${type}`).answers(databaseOf('shop_2'))
  await app.user.click(
    await screen.findByRole('button', { name: type === 'sql' ? 'Create SQL database' : 'Create MONGO database' }),
  )
  const dialog = await screen.findByRole('dialog')
  const ui = {
    dialog,
    create,
    field: within(dialog).getByLabelText('Database name'),
    button: within(dialog).getByRole('button', { name: 'Create' }),
  }
  return { ...app, ...ui }
}

test.each([
  ['', undefined],
  ['   ', MESSAGE],
  ['my-db', MESSAGE],
  ['my db', MESSAGE],
  ['shop ', MESSAGE],
  ['"; DROP', MESSAGE],
  ['dätabase', MESSAGE],
  ['a.b', MESSAGE],
  ['x'.repeat(65), 'Database name is too long by 1'],
])('§5 the database name %j is rejected', async (name, problem) => {
  const { user, field, button, dialog, create } = await opened()
  if (name) await user.type(field, name)
  expect(button).toBeDisabled()
  if (problem) {
    expect(field).toHaveAccessibleDescription(
      `${problem} Letters, digits and underscores (no dashes), at most 64 characters`,
    )
    expect(field).toHaveAttribute('aria-invalid', 'true')
  } else {
    expect(within(dialog).queryByText(MESSAGE)).not.toBeInTheDocument()
    expect(field).toHaveAttribute('aria-invalid', 'false')
  }
  // The Enter of an input method ends a composition.
  fireEvent.keyDown(field, { key: 'Enter', isComposing: true })
  expect(notifications()).toEqual([])
  await user.type(field, '{Enter}')
  expect(notifications()).toEqual(['Invalid database name'])
  expect(create.calls).toHaveLength(0)
  expect(dialog).toBeVisible()
})

test("§5 submitting an invalid name in any way shows 'Invalid database name' and sends no request", async () => {
  const { user, field, dialog, create } = await opened()
  await user.type(field, 'my-db')
  fireEvent.submit(dialog.querySelector('form')!)
  expect(notifications()).toEqual(['Invalid database name'])
  expect(create.calls).toHaveLength(0)
})

test.each(['a', 'A_1', '0', '_', 'SELECT', 'x'.repeat(64)])('§5 the database name %j is accepted', async (name) => {
  const { user, field, button, create } = await opened()
  await user.type(field, name)
  expect(button).toBeEnabled()
  expect(field).toHaveAttribute('aria-invalid', 'false')
  await user.click(button)
  await waitFor(() => expect(create.calls.map(({ body }) => body)).toEqual([{ name }]))
})

test.each([
  ['sql', 'SQL', 'SQL Databases'],
  ['mongo', 'MONGO', 'MongoDB Databases'],
] as const)(
  '§7, §8 creating a database of type %s expands its card, scrolls to it and focuses it',
  async (type, label, name) => {
    const { network, user, field, card, scrolled, section } = await opened(type)
    const list = network.get(`/api/database/${type}`).answers({ databases: [databaseOf('aaa'), databaseOf('shop_2')] })
    await user.type(field, 'shop_2{Enter}')
    const made = await card('shop_2')
    expect(await section(name)).toContainElement(made)
    expect(credentialsIn(made)).toMatchObject({ Username: 'shop_2', Password: '••••••••••••Hidden' })
    expect(notifications()).toEqual([`Successfully created ${label} database shop_2`])
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
    await waitFor(() => expect(within(made).getByRole('button', { name: 'shop_2' })).toHaveFocus())
    expect(scrolled.mock.contexts).toContain(made)
    expect(list.calls).toHaveLength(1)
  },
)

test('the credentials come from the list when the creation response has only the name', async () => {
  const { network, user, field, card } = await opened('sql', { sql: [] })
  network.post('/api/database/sql').answers({ name: 'shop_2' })
  const { release } = network.get('/api/database/sql').answersLater({ databases: [databaseOf('shop_2')] })
  await user.type(field, 'shop_2{Enter}')
  await waitFor(() => expect(notifications()).toHaveLength(1))
  expect(screen.queryByRole('article', { name: 'shop_2' })).not.toBeInTheDocument()
  release()
  expect(credentialsIn(await card('shop_2'))).toMatchObject({ Host: 'db.example' })
})

test.each([
  [
    'the server message',
    409,
    { message: 'A database named "shop_2" already exists.' },
    'A database named "shop_2" already exists.',
  ],
  ['a default message when the server sends none', 500, {}, 'Failed to create SQL database shop_2'],
])('§8 a refused creation shows %s and keeps the input', async (_case, status, body, text) => {
  const { network, user, field, dialog, button } = await opened()
  network.post('/api/database/sql').answers(status, body)
  await user.type(field, 'shop_2')
  await user.click(button)
  expect(await within(dialog).findByRole('alert')).toHaveTextContent(text)
  expect(notifications()).toEqual(['Failed to create SQL database shop_2'])
  expect(field).toHaveValue('shop_2')
})

test('the create dialog shows progress, stays open and sends one request while creating', async () => {
  const { network, user, field, dialog, button } = await opened()
  const { calls, release } = network.post('/api/database/sql').answersLater(databaseOf('shop_2'))
  await user.type(field, 'shop_2')
  await user.click(button)
  const busy = within(dialog).getByRole('button', { name: 'Creating...' })
  expect(busy).toHaveAttribute('aria-busy', 'true')
  await user.click(busy)
  await user.type(field, 'more{Enter}')
  await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
  await user.keyboard('{Escape}')
  expect(dialog).toBeVisible()
  release()
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(calls.map(({ body }) => body)).toEqual([{ name: 'shop_2' }])
})

test('a new database is visible because creating it clears the filter', async () => {
  const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => databaseOf(name))
  const app = renderDatabases({ sql: many })
  app.network.post('/api/database/sql').answers(databaseOf('shop_2'))
  await app.user.type(await screen.findByRole('searchbox'), 'e')
  await app.user.click(screen.getByRole('button', { name: 'Create SQL database' }))
  app.network.get('/api/database/sql').answers({ databases: [...many, databaseOf('shop_2')] })
  await app.user.type(await screen.findByLabelText('Database name'), 'shop_2{Enter}')
  expect(await app.card('shop_2')).toBeVisible()
  expect(screen.getByRole('searchbox')).toHaveValue('')
})

test('decisions §10: the typed name is in the store until the dialog is closed or the page left; focus is restored', async () => {
  const { network, user, field, store } = await opened()
  network.shows([])
  await user.type(field, 'sho')
  expect(store.getState().databases?.dialog).toEqual({ kind: 'create', type: 'sql', name: 'sho' })
  await user.keyboard('{Escape}')
  expect(screen.getByRole('button', { name: 'Create SQL database' })).toHaveFocus()
  await user.keyboard('{Enter}')
  expect(await screen.findByLabelText('Database name')).toHaveValue('')
  await user.click(screen.getByRole('link', { name: 'Overview', hidden: true }))
  await waitFor(() => expect(store.getState().databases?.dialog).toBeNull())
})
