import { screen, waitFor, within } from '@testing-library/react'
import { deploymentOf, entryOf } from '../../../support/web/factories'
import { renderApp } from '../../../support/web/renderApp'

const bot = deploymentOf('bot', { typeIndex: 3, enabled: false })

const guide = () => screen.findByRole('region', { name: 'Three steps to start bot' })
const doneIn = (region: HTMLElement) =>
  within(region)
    .getAllByRole('listitem')
    .map((step) => step.textContent?.includes('(done)') === true)

/** Creates a deployment and waits for its steps. */
async function created({ files = [] as object[] } = {}) {
  const app = renderApp('/deployments', { signedInAs: 'ann' })
  app.network.get('/api/deployments').answers({ deployments: [] })
  app.network.post('/api/deployments').answers({})
  app.network.get('/api/sftp/files').answers({ files })
  await app.user.click(await screen.findByRole('button', { name: 'Create Process' }))
  app.network.get('/api/deployments').answers({ deployments: [bot] })
  await app.user.type(screen.getByLabelText('Name'), 'bot')
  await app.user.click(screen.getByRole('button', { name: 'Create' }))
  return { ...app, region: await guide() }
}

test('after a creation the page leads through three steps, and the list highlights the new deployment', async () => {
  const { region } = await created()
  expect(
    within(region)
      .getAllByRole('listitem')
      .map((step) => step.textContent),
  ).toEqual(['Put its files thereOpen its directory', 'Set its commandOpen its configuration', 'Enable itEnabled'])
  expect(within(region).getByRole('link', { name: 'Open its directory' })).toHaveAttribute('href', '/files/bot')
  expect(within(region).getByRole('link', { name: 'Open its configuration' })).toHaveAttribute(
    'href',
    '/deployments/bot/edit',
  )
  expect(within(screen.getByRole('article', { name: 'bot' })).getByText('New')).toBeVisible()
})

test('the steps are done when the directory has files, the configuration is saved and the switch is on', async () => {
  const { network, user, region } = await created({ files: [entryOf('bot/bot.js')] })
  await waitFor(() => expect(doneIn(region)).toEqual([true, false, false]))

  network.get('/api/deployments/bot').answers({ content: 'name: bot\n' })
  network.patch('/api/deployments/bot').answers({})
  await user.click(within(region).getByRole('link', { name: 'Open its configuration' }))
  await screen.findByRole('region', { name: 'Configuration' })
  await user.click(screen.getByRole('button', { name: 'Save Changes' }))
  await screen.findByText('Changes saved successfully!')
  await user.click(screen.getByRole('link', { name: 'Back' }))
  const again = await guide()
  await waitFor(() => expect(doneIn(again)).toEqual([true, true, false]))

  network.post('/api/deployments/bot/toggle').answers({})
  network.get('/api/deployments').answers({ deployments: [{ ...bot, enabled: true }] })
  await user.click(within(again).getByRole('switch', { name: 'Enabled' }))
  await waitFor(() => expect(again).not.toBeInTheDocument())
  expect(within(screen.getByRole('article', { name: 'bot' })).queryByText('New')).toBeNull()
})

test('the steps are shown again after a reload', async () => {
  const stored = { 'deployment-guide': '{"name":"bot","isConfigured":true}' }
  const { network } = renderApp('/deployments', { signedInAs: 'ann', stored })
  network.get('/api/deployments').answers({ deployments: [bot] })
  network.get('/api/sftp/files').answers({ files: [] })
  expect(doneIn(await guide())).toEqual([false, true, false])
})

test('the steps end with the session, also on another page after a reload', async () => {
  const stored = { 'deployment-guide': '{"name":"bot","isConfigured":true}' }
  const { network, user, services } = renderApp('/databases', { signedInAs: 'ann', stored })
  for (const engine of ['sql', 'mongo']) network.get(`/api/database/${engine}`).answers({ databases: [] })
  network.post('/api/auth/logout').answers({})
  await user.click(await screen.findByRole('button', { name: 'Logout' }))
  await waitFor(() => expect(services.stored.has('deployment-guide')).toBe(false))
})

test('the steps are kept until they are dismissed', async () => {
  const { user, region, services } = await created()
  expect(services.stored.get('deployment-guide')).toBe('{"name":"bot","isConfigured":false}')
  await user.click(within(region).getByRole('button', { name: 'Dismiss' }))
  expect(region).not.toBeInTheDocument()
  expect(services.stored.has('deployment-guide')).toBe(false)
})

test('the steps disappear when their deployment is deleted', async () => {
  const { network, user, region } = await created()
  network.delete('/api/deployments/bot').answers({})
  await user.click(screen.getByRole('button', { name: 'Delete bot' }))
  network.get('/api/deployments').answers({ deployments: [] })
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await waitFor(() => expect(region).not.toBeInTheDocument())
})
