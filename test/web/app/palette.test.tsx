import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { sessionEnded } from '../../../src/web/facts'
import { deploymentOf, entryOf, instanceOf, userOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

const lobby = { deployment: deploymentOf('lobby'), instances: [instanceOf('a1b2c3-lobby'), instanceOf('d4e5f6-lobby')] }
const survival = { deployment: deploymentOf('survival'), instances: [instanceOf('778899-survival')] }

function open(path: string, options: Parameters<typeof renderApp>[1] = {}) {
  const app = renderApp(path, { signedInAs: 'ann', ...options })
  app.network.shows([lobby, survival])
  app.network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  app.network.get('/api/deployments/lobby').answers({ content: 'name: lobby\n' })
  return app
}
const field = () => screen.findByRole('combobox', { name: 'Find a page, deployment, instance or action' })
const optionsOf = (group: string) =>
  within(screen.getByRole('group', { name: group }))
    .getAllByRole('option')
    .map(({ textContent }) => textContent)

test('Ctrl+K opens the palette, a second one closes it', async () => {
  const { user } = open('/')
  await screen.findByRole('heading', { name: 'Network Overview' })
  await user.keyboard('{Control>}k{/Control}')
  expect(await field()).toHaveFocus()
  await user.keyboard('{Control>}k{/Control}')
  await waitFor(() => expect(screen.queryByRole('combobox')).not.toBeInTheDocument())
})

test('held keys: the Enter that opened the palette chooses no command, and Ctrl+K opens it once', async () => {
  const { user, store } = open('/')
  await screen.findByRole('heading', { name: 'Network Overview' })
  fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true })
  expect(await field()).toHaveFocus()
  expect(fireEvent.keyDown(await field(), { key: 'k', ctrlKey: true, repeat: true })).toBe(false)
  expect(store.getState().palette?.shown).toBe('commands')
  await user.type(await field(), 'dark theme')
  fireEvent.keyDown(await field(), { key: 'Enter', repeat: true })
  expect(store.getState().theme).not.toBe('dark')
  fireEvent.keyDown(await field(), { key: 'Enter' })
  expect(store.getState().theme).toBe('dark')
})

test('the palette finds deployments, instances and directories by all words, and goes to the chosen one', async () => {
  const { user, store } = open('/')
  await screen.findByText('a1b2c3-lobby')
  await user.click(screen.getByRole('button', { name: 'Command palette' }))
  await user.type(await field(), 'lob')
  expect(optionsOf('Deployments')).toEqual([
    'lobbyconfiguration',
    'lobbyrestart',
    'lobbydisable',
    'lobbyopen consoles side by side',
  ])
  expect(optionsOf('Instances')).toEqual(['a1b2c3-lobbyOnline', 'd4e5f6-lobbyOnline'])
  expect(optionsOf('Directories')).toEqual(['/lobbyfiles'])
  await user.type(await field(), ' files')
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual(['/lobbyfiles'])
  await user.keyboard('{Enter}')
  await waitFor(() => expect(window.location.pathname).toBe('/files/lobby'))
  await waitFor(() => expect(store.getState().palette?.shown).toBeNull())
})

test('a deployment is restarted and disabled from the palette after the same confirmation as on every page', async () => {
  const { user, network } = open('/files')
  const restart = network.post('/api/deployments/lobby/restart').answers({})
  const toggle = network.post('/api/deployments/lobby/toggle').answers({})
  const choose = async (words: string, found: string) => {
    await user.keyboard('{Control>}k{/Control}')
    await user.type(await field(), words)
    await screen.findByRole('option', { name: found })
    await user.keyboard('{Enter}')
  }
  await screen.findByRole('heading', { name: /Files/ })
  await choose('lobby restart', 'lobby restart')
  const question = await screen.findByRole('dialog', { name: 'Restart lobby' })
  expect(question).toHaveTextContent('Restart 2 instances of lobby?')
  expect(restart.calls).toHaveLength(0)
  await user.click(within(question).getByRole('button', { name: 'Restart' }))
  expect(await screen.findByText('Successfully restarted lobby')).toBeVisible()
  expect(restart.calls).toHaveLength(1)

  await choose('lobby disable', 'lobby disable')
  await user.click(await screen.findByRole('button', { name: 'Disable' }))
  await waitFor(() => expect(toggle.calls.map(({ body }) => body)).toEqual([{ enabled: false }]))
})

test('a disabled deployment is enabled from the palette at once', async () => {
  const { user, network } = open('/')
  network.shows([{ deployment: deploymentOf('lobby', { enabled: false }), instances: [] }])
  const { calls } = network.post('/api/deployments/lobby/toggle').answers({})
  await screen.findByRole('heading', { name: 'Network Overview' })
  await user.keyboard('{Control>}k{/Control}')
  await user.type(await field(), 'lobby enable')
  await screen.findByRole('option', { name: 'lobby enable' })
  await user.keyboard('{Enter}')
  await waitFor(() => expect(calls.map(({ body }) => body)).toEqual([{ enabled: true }]))
  expect(screen.queryByRole('dialog', { name: /lobby/ })).toBeNull()
})

test('the palette offers no power actions without the right to them', async () => {
  network
    .get('/api/account')
    .answers({ role: 'limited', grants: [{ deployment: 'lobby', rights: ['view', 'console'] }] })
  const { user } = open('/')
  await screen.findByText('a1b2c3-lobby')
  await user.keyboard('{Control>}k{/Control}')
  await user.type(await field(), 'lobby')
  await waitFor(() => expect(optionsOf('Deployments')).toEqual(['lobbyopen consoles side by side']))
})

test('the palette says how many results there are', async () => {
  const { user } = open('/')
  await user.click(await screen.findByRole('button', { name: 'Command palette' }))
  await user.type(await field(), 'dark theme')
  expect(await screen.findByText('1 result')).toBeInTheDocument()
})

test('the palette opens the consoles of a deployment with several instances side by side', async () => {
  const { user } = open('/')
  await screen.findByText('a1b2c3-lobby')
  await user.click(screen.getByRole('button', { name: 'Command palette' }))
  await user.type(await field(), 'side by side')
  // Survival has one instance.
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
    'lobbyopen consoles side by side',
  ])
  await user.keyboard('{Enter}')
  await waitFor(() => expect(window.location.pathname).toBe('/consoles'))
  expect(window.location.search).toBe('?instances=uid-a1b2c3-lobby&instances=uid-d4e5f6-lobby')
})

test('the arrow keys move through the commands and wrap around', async () => {
  const { user } = open('/')
  await user.click(await screen.findByRole('button', { name: 'Command palette' }))
  const input = await field()
  const chosen = () => document.getElementById(input.getAttribute('aria-activedescendant')!)?.textContent
  expect(chosen()).toBe('Overviewg o')
  await user.keyboard('{ArrowDown}')
  expect(chosen()).toBe('Deploymentsg d')
  // An arrow key of an input method chooses a candidate.
  fireEvent.keyDown(input, { key: 'ArrowDown', isComposing: true })
  expect(chosen()).toBe('Deploymentsg d')
  await user.keyboard('{ArrowUp}{ArrowUp}')
  expect(chosen()).toBe('Log out')
})

test('commands that were used are listed first when the palette opens again, until the session ends', async () => {
  const { user, services, store } = open('/')
  await user.click(await screen.findByRole('button', { name: 'Command palette' }))
  await user.type(await field(), 'dark theme{Enter}')
  await waitFor(() => expect(store.getState().theme).toBe('dark'))
  await waitFor(() => expect(services.stored.get('recent-commands')).toBe('["action:theme:dark"]'))
  await user.keyboard('{Control>}k{/Control}')
  await field()
  expect(optionsOf('Recently used')).toEqual(['Use the dark theme'])

  store.dispatch(sessionEnded('signedOut'))
  await waitFor(() => expect(services.stored.has('recent-commands')).toBe(false))
})

test('only administrators find users and administration pages in the palette', async () => {
  const { user, leave } = open('/')
  await user.click(await screen.findByRole('button', { name: 'Command palette' }))
  await field()
  expect(optionsOf('Pages')).not.toContain('Activity')
  leave()

  const { user: admin, network } = open('/', { isAdmin: true })
  network.get('/api/users').answers({ users: [userOf(7, 'bertha')] })
  await admin.click(await screen.findByRole('button', { name: 'Command palette' }))
  await admin.type(await field(), 'berth')
  const found = await screen.findByRole('option', { name: 'bertha' })
  expect(found).toHaveAttribute('href', '/admin/users/7')
})

test('text typed into the palette appears in no action', async () => {
  const { user, store } = open('/')
  await user.click(await screen.findByRole('button', { name: 'Command palette' }))
  await user.type(await field(), 'hunter2secret')
  expect(await screen.findByText('Nothing matches')).toBeVisible()
  expect(JSON.stringify(store.getState())).not.toContain('hunter')
})

test.each([
  ['gd', '/deployments'],
  ['gf', '/files'],
  ['gb', '/databases'],
  ['gc', '/consoles'],
  ['ga', '/admin'],
  ['gdgo', '/'],
  ['fo', '/'],
])('the keys %s lead from the overview to %s', async (keys, path) => {
  const { user } = open('/')
  await screen.findByText('a1b2c3-lobby')
  await user.keyboard(keys)
  await waitFor(() => expect(window.location.pathname).toBe(path))
})

test('single keys do nothing while a text is typed or after they were turned off', async () => {
  const { user, services } = open('/')
  await screen.findByText('a1b2c3-lobby')
  await user.keyboard('?')
  await user.click(await screen.findByRole('checkbox', { name: 'Use shortcuts without Ctrl or Cmd' }))
  expect(services.stored.get('single-key-shortcuts')).toBe('off')
  await user.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  await user.keyboard('gf?')
  expect(window.location.pathname).toBe('/')
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()

  await user.keyboard('{Control>}k{/Control}')
  await user.type(await field(), 'gf')
  expect(window.location.pathname).toBe('/')
})

test('single keys that were turned off at an earlier visit stay off', async () => {
  const { user } = open('/', { stored: { 'single-key-shortcuts': 'off' } })
  await screen.findByText('a1b2c3-lobby')
  await user.keyboard('gf')
  expect(window.location.pathname).toBe('/')
})

test('j and k move through the rows of a list', async () => {
  const { user } = open('/')
  const [first, second] = await screen.findAllByRole('link', { name: /-lobby/ })
  await user.keyboard('jj')
  expect(second).toHaveFocus()
  await user.keyboard('k')
  expect(first).toHaveFocus()
})

test('j moves through the table of files too', async () => {
  const { user, network } = open('/files')
  network.get('/api/sftp/files').answers({ files: [entryOf('alpha/'), entryOf('beta/')], deploymentTypeIndex: null })
  await screen.findByRole('row', { name: /beta/ })
  await user.keyboard('jj')
  expect(screen.getByRole('row', { name: /beta/ })).toHaveFocus()
})

test('the key c moves the focus to the command line of a console, and types nothing', async () => {
  const { user } = open('/instance/lobby/uid-a1b2c3-lobby')
  await screen.findByRole('heading', { level: 1, name: 'a1b2c3-lobby' })
  const line = screen.getByRole('textbox', { name: 'Command' })
  await user.keyboard('c')
  expect(line).toHaveFocus()
  expect(line).toHaveValue('')
})

test.each([
  ['create deployment', 'Create Deployment', '/deployments'],
  ['create sql', 'Create SQL Database', '/databases'],
  ['create mongo', 'Create MONGO Database', '/databases'],
  ['create invite', 'Create Invite Code', '/admin?tab=invites'],
  ['create api key', 'Create API Key', '/keys'],
])(
  '%s in the palette opens its dialog on its page, from any page and from that page',
  async (words, title, address) => {
    const { user, network } = open('/', { isAdmin: true })
    network.get('/api/users').answers({ users: [] })
    network.get('/api/invite-codes').answers({ codes: [] })
    network.get('/api/keys').answers({ keys: [] })
    network.get('/api/database/sql').answers({ databases: [] })
    network.get('/api/database/mongo').answers({ databases: [] })
    await screen.findByText('a1b2c3-lobby')
    for (const _time of [1, 2]) {
      await user.keyboard('{Control>}k{/Control}')
      await user.type(await field(), words)
      await user.keyboard('{Enter}')
      const dialog = await screen.findByRole('dialog', { name: title })
      expect(window.location.pathname + window.location.search).toBe(address)
      await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
      await waitFor(() => expect(dialog).not.toBeInTheDocument())
    }
  },
)

test('the palette creates for limited users only what they may create', async () => {
  const { user, network } = open('/')
  network.get('/api/account').answers({ role: 'limited', grants: [] })
  await screen.findByRole('heading', { name: 'Network Overview' })
  await user.keyboard('{Control>}k{/Control}')
  await user.type(await field(), 'create')
  await waitFor(() => expect(optionsOf('Actions')).toEqual(['Create API key']))
})

test('navigation from the palette moves the focus to the content of the new page', async () => {
  const { user } = open('/')
  await screen.findByText('a1b2c3-lobby')
  screen.getByRole('link', { name: 'Deployments' }).focus()
  await user.keyboard('{Control>}k{/Control}')
  await user.type(await field(), 'databases')
  await user.keyboard('{Enter}')
  await screen.findByRole('heading', { level: 1, name: 'Databases' })
  await waitFor(() => expect(screen.getByRole('main')).toHaveFocus())
})
