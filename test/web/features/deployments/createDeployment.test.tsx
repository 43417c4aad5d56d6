import { screen, waitFor, within } from '@testing-library/react'
import { deploymentOf } from '../../../support/web/factories'
import { navigate } from '../../../support/web/navigate'
import { notifications } from '../../../support/web/notifications'
import { renderApp } from '../../../support/web/renderApp'

async function opened({
  nodes = ['node-a', 'node-b'],
  details = undefined as unknown[] | undefined,
  by = 'Create Deployment',
} = {}) {
  const app = renderApp('/deployments', { signedInAs: 'ann' })
  app.network.get('/api/deployments').answers({ deployments: [] })
  app.network.get('/api/network/nodes').answers({ nodes, ...(details && { details }) })
  const create = app.network.post('/api/deployments').answers({})
  // The steps after a creation ask for its files.
  app.network.get('/api/sftp/files').answers({ files: [] })
  await app.user.click(await screen.findByRole('button', { name: by }))
  const dialog = await screen.findByRole('dialog')
  const ui = {
    dialog,
    name: within(dialog).getByLabelText('Name'),
    node: () => within(dialog).findByLabelText('Node'),
    choose: (type: string) => app.user.click(within(dialog).getByRole('button', { name: type })),
    submit: () => app.user.click(within(dialog).getByRole('button', { name: 'Create' })),
  }
  return { ...app, ...ui, create }
}

test('§5 a blank name is rejected with a message', async () => {
  const { dialog, user, name, choose, submit, create } = await opened()
  await choose('Scalable')
  expect(within(dialog).queryByText('Deployment name is required')).not.toBeInTheDocument()
  await user.type(name, '   ')
  await submit()
  expect(within(dialog).getByText('Deployment name is required')).toBeVisible()
  expect(name).toHaveAttribute('aria-invalid', 'true')
  expect(name).toHaveFocus()
  expect(create.calls).toHaveLength(0)
})

test('§5 a persistent deployment without a node is rejected with a message', async () => {
  const { dialog, user, name, node, submit, create } = await opened()
  await user.type(name, 'survival')
  await submit()
  expect(within(dialog).getByText('Please select a node for the persistent deployment')).toBeVisible()
  expect(await node()).toHaveFocus()
  expect(create.calls).toHaveLength(0)
})

test('§7, §8 a persistent deployment is created with its node', async () => {
  const { network, user, name, node, submit, create } = await opened()
  await user.type(name, ' survival ')
  await screen.findByRole('option', { name: 'node-b' })
  await user.selectOptions(await node(), 'node-b')
  network.get('/api/deployments').answers({ deployments: [deploymentOf('survival', { typeIndex: 1 })] })
  await submit()
  expect(await screen.findByRole('article', { name: 'survival' })).toBeVisible()
  expect(create.calls.map(({ body }) => body)).toEqual([{ name: 'survival', type: 'persistent', node: 'node-b' }])
  expect(notifications()).toEqual(['Successfully created survival'])
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
})

test('the nodes of a cluster show what is free, and those that are not ready cannot be chosen', async () => {
  const room = { cpu: { free: 3.75, total: 4 }, memory: { free: 1.5 * 2 ** 30, total: 2 ** 33 } }
  const { dialog, user, name, node, choose, submit, create } = await opened({
    // A server may know nothing about one.
    details: [
      { name: 'node-a', ready: true, ...room },
      { name: 'node-b', ready: true },
      { name: 'node-c', ready: false, ...room },
    ],
  })
  await choose('Persistent')
  await user.type(name, 'survival')
  const choice = await screen.findByRole('option', { name: 'node-a (3.75 of 4 CPU, 1.50 GB of 8.00 GB free)' })
  expect(within(dialog).getByRole('option', { name: 'node-b' })).toBeEnabled()
  expect(within(dialog).getByRole('option', { name: 'node-c (not ready)' })).toBeDisabled()
  expect(within(dialog).getByText(/Free resources are those that no instance has requested/)).toBeVisible()
  await user.selectOptions(await node(), choice)
  await submit()
  await waitFor(() =>
    expect(create.calls.map(({ body }) => body)).toEqual([{ name: 'survival', type: 'persistent', node: 'node-a' }]),
  )
})

test('the only node is preselected', async () => {
  const { user, name, node, submit, create } = await opened({ nodes: ['node-a'] })
  await waitFor(async () => expect(await node()).toHaveValue('node-a'))
  await user.type(name, 'survival')
  await submit()
  await waitFor(() =>
    expect(create.calls.map(({ body }) => body)).toEqual([{ name: 'survival', type: 'persistent', node: 'node-a' }]),
  )
})

test.each([
  ['Scalable', 'scalable'],
  ['Process', 'process'],
])('§2, §7 the type %s is chosen by button and sent without a node', async (label, type) => {
  const { dialog, user, name, choose, submit, create } = await opened()
  await choose(label)
  expect(within(dialog).getByRole('button', { name: label })).toHaveAttribute('aria-pressed', 'true')
  expect(within(dialog).queryByLabelText('Node')).not.toBeInTheDocument()
  await user.type(name, 'lobby')
  await submit()
  await waitFor(() => expect(create.calls.map(({ body }) => body)).toEqual([{ name: 'lobby', type }]))
})

test('the empty Proxy section creates the proxy, in a dialog without a choice of the type', async () => {
  const { dialog, user, name, submit, create } = await opened({ by: 'Create Proxy' })
  expect(within(dialog).queryByRole('group', { name: 'Type' })).not.toBeInTheDocument()
  await user.type(name, 'gate')
  await submit()
  await waitFor(() => expect(create.calls.map(({ body }) => body)).toEqual([{ name: 'gate', type: 'proxy' }]))
})

test('creating the proxy moves focus to the heading, because its button is removed', async () => {
  const { network, user, name, submit } = await opened({ by: 'Create Proxy' })
  await user.type(name, 'gate')
  const { release } = network
    .get('/api/deployments')
    .answersLater({ deployments: [deploymentOf('gate', { typeIndex: 0 })] })
  await submit()
  await waitFor(() => expect(screen.getByRole('button', { name: 'Create Proxy' })).toHaveFocus())
  release()
  await screen.findByRole('article', { name: 'gate' })
  await waitFor(() => expect(screen.getByRole('heading', { name: 'Deployments' })).toHaveFocus())
})

test('§2 the dialog offers the types persistent, scalable and process', async () => {
  const { dialog } = await opened()
  const group = within(dialog).getByRole('group', { name: 'Type' })
  expect(
    within(group)
      .getAllByRole('button')
      .map((button) => button.textContent),
  ).toEqual(['Persistent', 'Scalable', 'Process'])
})

test.each(['Lobby', '-lobby', 'lobby-', 'a b', ';id', '..', 'x'.repeat(41)])(
  'decisions §4: the name %p is marked as invalid',
  async (text) => {
    const { user, name } = await opened()
    expect(name).toHaveAccessibleDescription(
      '1 to 40 lower-case letters, digits or dashes, not starting or ending with a dash',
    )
    expect(name).toHaveAttribute('aria-invalid', 'false')
    await user.type(name, text)
    expect(name).toHaveAttribute('aria-invalid', 'true')
  },
)

test('decisions §4: an invalid name is not sent, and only the field shows the error', async () => {
  const { dialog, user, name, choose, submit, create } = await opened()
  await choose('Scalable')
  await user.type(name, 'My Server')
  await submit()
  expect(name).toHaveFocus()
  expect(name).toHaveAttribute('aria-invalid', 'true')
  expect(within(dialog).queryByRole('alert')).not.toBeInTheDocument()
  expect(notifications()).toEqual([])
  expect(create.calls).toEqual([])
})

test.each([
  [
    'with the server message',
    409,
    { message: 'A deployment named "lobby" already exists.' },
    'A deployment named "lobby" already exists.',
  ],
  ['without details when the server sends none', 500, {}, 'Failed to create deployment'],
])(
  "§8 'Failed to create deployment' is notified; the dialog shows the reason %s until the next edit",
  async (_case, status, body, text) => {
    const { network, dialog, user, name, choose, submit } = await opened()
    network.post('/api/deployments').answers(status, body)
    await choose('Process')
    await user.type(name, 'lobby')
    await submit()
    expect((await within(dialog).findByRole('alert')).textContent).toBe(text)
    expect(notifications()).toEqual(['Failed to create deployment'])
    expect(name).toHaveValue('lobby')
    await user.type(name, '2')
    expect(within(dialog).queryByRole('alert')).not.toBeInTheDocument()
  },
)

test('§8 a failure is notified after the user has left the page', async () => {
  const { network, user, name, choose, submit } = await opened()
  const { release } = network.post('/api/deployments').answersLater(500)
  await choose('Process')
  await user.type(name, 'lobby')
  await submit()
  network.get('/api/database/sql').answers({ databases: [] })
  network.get('/api/database/mongo').answers({ databases: [] })
  navigate('/databases')
  await screen.findByRole('heading', { name: 'Databases' })
  release()
  await waitFor(() => expect(notifications()).toEqual(['Failed to create deployment']))
})

test('nodes that fail to load show the failure, and Retry refetches them', async () => {
  const { network, dialog, user, choose, node } = await opened()
  await choose('Scalable')
  network.get('/api/network/nodes').answers(503, { message: 'The cluster did not answer' })
  await choose('Persistent')
  expect(await within(dialog).findByRole('alert')).toHaveTextContent('The cluster did not answer')
  network.get('/api/network/nodes').answers({ nodes: ['node-c'] })
  await user.click(within(dialog).getByRole('button', { name: 'Retry' }))
  await waitFor(async () => expect(await node()).toHaveValue('node-c'))
  expect(within(dialog).queryByRole('alert')).not.toBeInTheDocument()
})

test('the create dialog stays open and sends one request while creating', async () => {
  const { network, dialog, user, name, choose, submit } = await opened()
  const { calls, release } = network.post('/api/deployments').answersLater({})
  await choose('Scalable')
  await user.type(name, 'lobby')
  await submit()
  const button = within(dialog).getByRole('button', { name: 'Creating...' })
  expect(button).toHaveAttribute('aria-busy', 'true')
  await user.click(button)
  await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
  await user.keyboard('{Escape}')
  expect(dialog).toBeVisible()
  release()
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(calls).toHaveLength(1)
})

test('decisions §10: the store holds the input until the dialog is closed', async () => {
  const { store, user, name, choose } = await opened()
  await choose('Process')
  await user.type(name, 'bot')
  expect(store.getState().deployments?.dialog).toEqual({ kind: 'create', name: 'bot', type: 'process', node: '' })
  await user.keyboard('{Escape}')
  expect(store.getState().deployments?.dialog).toBeNull()
})
