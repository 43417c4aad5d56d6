import { screen, waitFor, within } from '@testing-library/react'
import { deploymentOf } from '../../../support/web/factories'
import { notifications } from '../../../support/web/notifications'
import { renderApp } from '../../../support/web/renderApp'

async function asked() {
  const app = renderApp('/deployments', { signedInAs: 'ann' })
  app.network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby'), deploymentOf('hub')] })
  await app.user.click(await screen.findByRole('button', { name: 'Delete lobby' }))
  const dialog = await screen.findByRole('dialog', { name: 'Delete Deployment' })
  return { ...app, dialog, confirm: () => app.user.click(within(dialog).getByRole('button', { name: 'Delete' })) }
}

test('§2 deleting a deployment asks with both sentences; Cancel deletes nothing', async () => {
  const { dialog, network, user } = await asked()
  const { calls } = network.delete('/api/deployments/lobby').answers({})
  expect(within(dialog).getByText('Are you sure you want to delete the deployment "lobby"?')).toBeVisible()
  expect(within(dialog).getByText('This action cannot be undone.')).toBeVisible()
  await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(calls).toHaveLength(0)
})

test('§8 the dialog stays open while deleting; then the card disappears with a notification', async () => {
  const { dialog, network, user, confirm } = await asked()
  const { calls, release } = network.delete('/api/deployments/lobby').answersLater({})
  await confirm()
  const button = within(dialog).getByRole('button', { name: 'Deleting...' })
  expect(button).toHaveAttribute('aria-busy', 'true')
  await user.click(button)
  await user.keyboard('{Escape}')
  await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
  expect(dialog).toBeVisible()
  expect(notifications()).toEqual([])

  // The response removes the card, not the next list.
  network.get('/api/deployments').answersLater({})
  release()
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(screen.queryByRole('article', { name: 'lobby' })).not.toBeInTheDocument()
  expect(screen.getByRole('article', { name: 'hub' })).toBeVisible()
  expect(notifications()).toEqual(['Successfully deleted lobby'])
  expect(calls).toHaveLength(1)
})

test.each([
  ['the server message', { message: 'An instance does not stop' }, 'An instance does not stop'],
  ["'Failed to delete lobby' when the server sends no message", {}, 'Failed to delete lobby'],
])('§8 a failed deletion shows %s and keeps the card', async (_case, body, text) => {
  const { dialog, network, confirm } = await asked()
  network.delete('/api/deployments/lobby').answers(500, body)
  await confirm()
  expect(await within(dialog).findByRole('alert')).toHaveTextContent(text)
  expect(notifications()).toEqual(['Failed to delete lobby'])
  expect(screen.getByRole('article', { name: 'lobby', hidden: true })).toBeInTheDocument()
})

test('a late deletion response does not close a dialog opened in the meantime', async () => {
  const { network, user, store, confirm } = await asked()
  const { release } = network.delete('/api/deployments/lobby').answersLater({})
  network.get('/api/network/nodes').answers({ nodes: [] })
  await confirm()
  // The dialog blocks clicks: navigate as the Back button of the browser would.
  for (const type of ['sql', 'mongo']) network.get(`/api/database/${type}`).answers({ databases: [] })
  await user.click(screen.getByRole('link', { name: 'Databases', hidden: true }))
  await screen.findByRole('heading', { name: 'Databases' })
  await user.click(screen.getByRole('link', { name: 'Deployments' }))
  await user.click(await screen.findByRole('button', { name: 'Create Deployment' }))
  release()
  await waitFor(() => expect(notifications()).toEqual(['Successfully deleted lobby']))
  expect(store.getState().deployments?.dialog).toMatchObject({ kind: 'create' })
})

test('a deletion moves focus to the heading, because its button is removed with the card', async () => {
  const { network, confirm } = await asked()
  network.delete('/api/deployments/lobby').answers({})
  network.get('/api/deployments').answers({ deployments: [deploymentOf('hub')] })
  await confirm()
  await waitFor(() => expect(screen.queryByRole('article', { name: 'lobby' })).not.toBeInTheDocument())
  await waitFor(() => expect(screen.getByRole('heading', { name: 'Deployments' })).toHaveFocus())
})
