import { act, screen, waitFor } from '@testing-library/react'
import { deploymentOf } from '../../../support/web/factories'
import { aceEditor } from '../../../support/web/aceEditor'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'

const stored = 'name: lobby\n'
const edited = 'name: lobby\n# more\n'

beforeEach(() => {
  for (const engine of ['sql', 'mongo']) network.get(`/api/database/${engine}`).answers({ databases: [] })
})

async function opened() {
  const app = renderApp('/deployments', { signedInAs: 'ann' })
  app.network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
  app.network.get('/api/deployments/lobby').answers({ content: stored })
  await app.user.click(await screen.findByRole('link', { name: 'Edit lobby' }))
  await screen.findByRole('region', { name: 'Configuration' })
  return { ...app, editor: aceEditor(), button: (name: string) => app.user.click(screen.getByRole('button', { name })) }
}
const asked = () => screen.findByRole('dialog', { name: 'Leave without saving?' })
const answered = () => waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
const goBack = () => act(() => window.history.back())
const unloads = () => window.dispatchEvent(new Event('beforeunload', { cancelable: true }))

test.each([
  ['Back', '/deployments'],
  ['Databases', '/databases'],
  ['Quarterdeck', '/'],
])('leaving unsaved changes by the link %p asks for confirmation', async (name, path) => {
  const { network, user, editor, store, button } = await opened()
  network.shows([])
  editor.write(edited)
  await user.click(screen.getByRole('link', { name }))
  await asked()
  await button('Keep editing')
  await answered()
  expect(window.location.pathname).toBe('/deployments/lobby/edit')
  expect(editor.text()).toBe(edited)

  await user.click(screen.getByRole('link', { name }))
  await asked()
  await button('Discard changes')
  await waitFor(() => expect(window.location.pathname).toBe(path))
  expect(store.getState().configuration).toEqual({ drafts: {}, dialog: null })
})

test('signing out with unsaved changes asks for confirmation and continues on Discard changes', async () => {
  const { network, user, editor, button } = await opened()
  network.post('/api/auth/logout').answers({})
  editor.write(edited)
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await asked()
  await button('Keep editing')
  await answered()
  expect(editor.text()).toBe(edited)

  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await asked()
  await button('Discard changes')
  await screen.findByRole('heading', { name: 'Sign In' })
})

test.each([
  [401, []],
  [503, ['Failed to log out']],
])('a logout that fails with %i shows the notifications %j', async (status, messages) => {
  const { network, user, editor, button, store } = await opened()
  network.post('/api/auth/logout').answers(status)
  editor.write(edited)
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await asked()
  await button('Discard changes')
  await waitFor(() =>
    expect(store.getState().session.current === null || store.getState().notifications.length > 0).toBe(true),
  )
  expect(store.getState().notifications.map(({ message }) => message)).toEqual(messages)
})

test('leaving unsaved changes by the Back button of the browser asks for confirmation', async () => {
  const { editor, button } = await opened()
  editor.write(edited)
  goBack()
  await asked()
  await waitFor(() => expect(window.location.pathname).toBe('/deployments/lobby/edit'))
  expect(editor.text()).toBe(edited)
  await button('Keep editing')
  await answered()

  goBack()
  await asked()
  await waitFor(() => expect(window.location.pathname).toBe('/deployments/lobby/edit'))
  await button('Discard changes')
  expect(await screen.findByRole('heading', { name: 'Deployments' })).toBeVisible()
  expect(window.location.pathname).toBe('/deployments')
})

test('closing the window asks for confirmation only with unsaved changes', async () => {
  const { editor } = await opened()
  expect(unloads()).toBe(true)
  editor.write(edited)
  expect(unloads()).toBe(false)
  editor.write(stored)
  expect(unloads()).toBe(true)
})

test('leaving without changes, or after saving them, does not ask', async () => {
  const { network, user, editor, button } = await opened()
  editor.write(edited)
  network.patch('/api/deployments/lobby').answers({})
  network.get('/api/deployments/lobby').answers({ content: edited })
  await button('Save Changes')
  await screen.findByText('Changes saved successfully!')
  await user.click(screen.getByRole('link', { name: 'Back' }))
  expect(await screen.findByRole('heading', { name: 'Deployments' })).toBeVisible()
  await user.click(await screen.findByRole('link', { name: 'Edit lobby' }))
  await screen.findByRole('region', { name: 'Configuration' })
  goBack()
  expect(await screen.findByRole('heading', { name: 'Deployments' })).toBeVisible()
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
})

test('"Skip to content" moves the focus and adds no history entry, so Back asks and leads to the page before', async () => {
  const { user, editor, button } = await opened()
  const { length } = window.history
  await user.click(screen.getByRole('link', { name: 'Skip to content' }))
  expect(screen.getByRole('main')).toHaveFocus()
  expect(window.history.length).toBe(length)
  expect(window.location.hash).toBe('')
  editor.write(edited)
  goBack()
  await asked()
  await button('Discard changes')
  await waitFor(() => expect(window.location.pathname).toBe('/deployments'))
})

test('in-page links and links opened in another tab do not ask', async () => {
  const { editor, store } = await opened()
  editor.write(edited)
  const click = (name: string, init: MouseEventInit = {}) => {
    const event = new MouseEvent('click', { bubbles: true, cancelable: true, ...init })
    act(() => void screen.getByRole('link', { name }).dispatchEvent(event))
  }
  click('Databases', { ctrlKey: true })
  click('Skip to content')
  expect(store.getState().configuration?.dialog).toBeNull()
  expect(screen.getByRole('region', { name: 'Configuration' })).toBeVisible()
})
