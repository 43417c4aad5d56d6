import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { aceEditor } from '../../../support/web/aceEditor'
import { stored, broken, configurationPage } from '../../../support/web/configurationPage'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { renderApp } from '../../../support/web/renderApp'

test("§2 the editor is titled with the name and reads 'Editing configuration file'; Back leads to /deployments", async () => {
  const { network, user, editor } = await configurationPage()
  expect(screen.getByRole('heading', { level: 1, name: 'lobby' })).toBeVisible()
  expect(screen.getByText('Editing configuration file')).toBeVisible()
  expect(editor.text()).toBe(stored)
  network.get('/api/deployments').answers({ deployments: [] })
  await user.click(screen.getByRole('link', { name: 'Back' }))
  expect(await screen.findByRole('heading', { name: 'Deployments' })).toBeVisible()
  expect(window.location.pathname).toBe('/deployments')
})

test('security 122: the configuration of a deployment named constructor is edited and saved like any other', async () => {
  const content = stored.replaceAll('lobby', 'constructor')
  const { network, user } = renderApp('/deployments/constructor/edit', { signedInAs: 'ann' })
  network.get('/api/deployments/constructor').answers({ content })
  const save = network.patch('/api/deployments/constructor').answers({})
  network.get('/api/deployments').answers({ deployments: [] })
  await screen.findByRole('region', { name: 'Configuration' })
  const typed = `${content}description: typed\n`
  aceEditor().write(typed)
  expect(Object).not.toHaveProperty('text')
  await user.click(screen.getByRole('button', { name: 'Save Changes' }))
  await waitFor(() => expect(save.calls).toHaveLength(1))
  expect(save.calls[0]).toMatchObject({ body: { content: typed } })
})

test('the page has a title of its own, and a breadcrumb', async () => {
  await configurationPage()
  expect(document.title).toBe('lobby · Configuration · Quarterdeck')
  const way = screen.getByRole('navigation', { name: 'Breadcrumb' })
  expect(
    within(way)
      .getAllByRole('listitem')
      .map((step) => step.textContent),
  ).toEqual(['Deployments', 'lobby', 'Configuration'])
  expect(within(way).getByRole('link', { name: 'Deployments' })).toHaveAttribute('href', '/deployments')
})

test('a saved configuration says when it applies, and offers a restart while instances run', async () => {
  const { network, user, onSave } = await configurationPage()
  const deployment = { ...deploymentOf('lobby'), instances: [instanceOf('a1-lobby', { playerCount: 3, players: {} })] }
  network.get('/api/deployments').answers({ deployments: [deployment] })
  const { calls, release } = network.post('/api/deployments/lobby/restart').answersLater({})
  await onSave()
  const banner = (await screen.findByText('Changes saved successfully!')).closest('.alert')!
  const note = screen.getByText(/Applies at the next start of each instance\./)
  expect(banner.compareDocumentPosition(note)).toBe(Node.DOCUMENT_POSITION_FOLLOWING)

  await user.click(await screen.findByRole('button', { name: 'Restart now' }))
  const dialog = await screen.findByRole('dialog', { name: 'Restart lobby' })
  expect(dialog).toHaveTextContent('Restart 1 instance of lobby? 3 players are online; they are disconnected.')
  await user.click(within(dialog).getByRole('button', { name: 'Restart' }))
  expect(await screen.findByRole('button', { name: 'Restarting...' })).toHaveAttribute('aria-disabled', 'true')
  release()
  await screen.findByText('Successfully restarted lobby')
  expect(calls).toHaveLength(1)
})

test.each([
  ['no instance runs', { ...deploymentOf('lobby'), instances: [] }],
  ['the server does not send the instances', deploymentOf('lobby')],
])('a saved configuration offers no restart when %s', async (_case, deployment) => {
  const { network, onSave } = await configurationPage()
  const { calls } = network.get('/api/deployments').answers({ deployments: [deployment] })
  await onSave()
  await screen.findByText(/Applies at the next start/)
  await waitFor(() => expect(calls).toHaveLength(1))
  await act(() => new Promise<void>((drawn) => void requestAnimationFrame(() => drawn())))
  expect(screen.queryByRole('button', { name: 'Restart now' })).not.toBeInTheDocument()
})

test('one Esc leaves the text, also with several cursors, and the page announces that key', async () => {
  const { user, editor } = await configurationPage()
  const text = document.querySelector<HTMLElement>('.ace_text-input')!
  expect(text).toHaveAccessibleDescription('Esc, then Tab leaves the editor')
  editor.addCursor(2)
  expect(editor.cursors()).toBe(2)
  act(() => text.focus())
  await user.keyboard('{Escape}')
  expect(document.activeElement).toHaveClass('ace_scroller')
  expect(editor.cursors()).toBe(1)
  expect(editor.text()).toBe(stored)
  await user.tab()
  expect(document.querySelector('.ace_editor')).not.toContainElement(document.activeElement as HTMLElement)
})

test("§2, §7 Save Changes sends the text, shows 'Changes saved successfully!' and keeps the text", async () => {
  const { network, store, save, load, editor, onSave } = await configurationPage()
  editor.write(broken)
  // The refetch is still in flight: the editor must not fall back to the old text meanwhile.
  network.get('/api/deployments/lobby').answersLater({ content: broken })
  await onSave()
  expect(await screen.findByText('Changes saved successfully!')).toBeVisible()
  expect(save.calls.map(({ body }) => body)).toEqual([{ content: broken }])
  expect(editor.text()).toBe(broken)
  expect(store.getState().configuration?.drafts).toEqual({})
  expect(screen.getByText('Saved')).toBeVisible()
  expect(load.calls).toHaveLength(1)
})

test('§2 the success banner disappears on Dismiss and on the next edit', async () => {
  const { network, user, editor, onSave } = await configurationPage()
  editor.write(broken)
  network.get('/api/deployments/lobby').answers({ content: broken })
  await onSave()
  await screen.findByText('Changes saved successfully!')
  await user.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(screen.queryByText('Changes saved successfully!')).not.toBeInTheDocument()
  await onSave()
  await screen.findByText('Changes saved successfully!')
  editor.write(stored)
  expect(screen.queryByText('Changes saved successfully!')).not.toBeInTheDocument()
})

test.each([
  ['Ctrl', { ctrlKey: true }],
  ['Cmd', { metaKey: true }],
])('§2 %s+S saves with any focus and suppresses the browser default', async (_key, modifier) => {
  const { save, editor } = await configurationPage()
  editor.write(broken)
  const passedOn = fireEvent.keyDown(document.body, { key: 's', ...modifier })
  expect(passedOn).toBe(false)
  expect(await screen.findByText('Changes saved successfully!')).toBeVisible()
  expect(save.calls).toHaveLength(1)
})

test('S without Ctrl, or with further modifiers, does not save', async () => {
  const { save, editor } = await configurationPage()
  editor.write(broken)
  for (const modifiers of [
    {},
    { ctrlKey: true, shiftKey: true },
    { ctrlKey: true, altKey: true },
    { ctrlKey: true, repeat: true },
  ]) {
    fireEvent.keyDown(document.body, { key: 's', ...modifiers })
  }
  // The first save request carries the later text: the keys before did not save.
  editor.write(stored)
  fireEvent.keyDown(document.body, { key: 's', ctrlKey: true })
  await screen.findByText('Changes saved successfully!')
  expect(save.calls.map(({ body }) => body)).toEqual([{ content: stored }])
})

test.each([
  ['with the server message', { message: 'The database is not reachable' }, 'The database is not reachable'],
  ['without details when the server sends none', {}, ''],
])(
  "§8 'Failed to load deployment configuration content' %s can be dismissed, and Retry refetches",
  async (_case, body, detail) => {
    const { network, user } = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
    network.get('/api/deployments/lobby').answers(503, body)
    const alert = await screen.findByRole('alert')
    expect(alert.textContent).toBe(`Failed to load deployment configuration content${detail}`)
    expect(screen.getByRole('button', { name: 'Save Changes' })).toBeDisabled()
    await user.click(within(alert).getByRole('button', { name: 'Dismiss' }))
    expect(screen.queryByRole('alert')).not.toBeInTheDocument()
    network.get('/api/deployments/lobby').answers({ content: stored })
    await user.click(screen.getByRole('button', { name: 'Retry' }))
    expect(await screen.findByRole('region', { name: 'Configuration' })).toBeVisible()
  },
)

test('§8 a response without content is a failed load', async () => {
  const { network } = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
  network.get('/api/deployments/lobby').answers({})
  expect(await screen.findByRole('alert')).toHaveTextContent('Failed to load deployment configuration content')
})

test("§8 a missing deployment shows 'Deployment Not Found' with a link back", async () => {
  const { network } = renderApp('/deployments/ghost/edit', { signedInAs: 'ann' })
  network.get('/api/deployments/ghost').answers(404, { message: 'There is no deployment named "ghost".' })
  expect(await screen.findByRole('heading', { name: 'Deployment Not Found' })).toBeVisible()
  expect(screen.getByRole('alert')).toHaveTextContent('Failed to load deployment configuration content')
  expect(screen.getByRole('link', { name: 'Back to Deployments' })).toHaveAttribute('href', '/deployments')
})

test('the editor shows a skeleton while the text loads', async () => {
  const { network } = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
  const { release } = network.get('/api/deployments/lobby').answersLater({ content: stored })
  expect(await screen.findByText('Loading the configuration')).toBeInTheDocument()
  expect(screen.getByRole('heading', { level: 1, name: 'lobby' })).toBeVisible()
  release()
  expect(await screen.findByRole('region', { name: 'Configuration' })).toBeVisible()
})
