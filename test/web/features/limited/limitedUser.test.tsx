import { act, screen, waitFor, within } from '@testing-library/react'
import type { Right } from '../../../../src/contract/access'
import type { Instance } from '../../../../src/contract/instance'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'

const grantedOn = (deployment: string, ...rights: Right[]) => [{ deployment, rights: ['view' as const, ...rights] }]

/** Renders the console for a limited user. */
async function renderLimited(path: string, grants: { deployment: string; rights: Right[] }[]) {
  const account = network.get('/api/account').answers({ role: 'limited', grants })
  network.get('/api/deployments').answers({ deployments: grants.map(({ deployment }) => deploymentOf(deployment)) })
  const app = renderApp(path, { signedInAs: 'ann' })
  await waitFor(() => expect(account.calls).toHaveLength(1))
  return app
}

test('a limited user is offered no databases, and no creation of deployments', async () => {
  await renderLimited('/deployments', [])
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Databases' })).toBeNull())
  expect(screen.getByRole('link', { name: 'Files' })).toBeVisible()
  await screen.findByText('No Proxy Found')
  expect(screen.queryByRole('button', { name: /Create/ })).toBeNull()
})

test('the page of databases says why a limited user cannot use it', async () => {
  for (const type of ['sql', 'mongo']) network.get(`/api/database/${type}`).answers(403)
  await renderLimited('/databases', grantedOn('lobby'))
  expect(await screen.findByText(/^Databases are for operators and administrators\./)).toBeVisible()
  expect(screen.queryByRole('button', { name: /Create/ })).toBeNull()
  expect(screen.getByRole('main')).toContainElement(screen.getByRole('link', { name: 'Return Home' }))
})

test('a card offers what the rights on its deployment allow, and says why a switch cannot be used', async () => {
  const { user } = await renderLimited('/deployments', grantedOn('lobby', 'files'))
  const card = await screen.findByRole('article', { name: 'lobby' })
  await waitFor(() => expect(within(card).queryByRole('link', { name: 'Edit lobby' })).toBeNull())
  expect(within(card).getByRole('link', { name: 'Open files of lobby' })).toBeVisible()
  expect(within(card).queryByRole('button', { name: 'Delete lobby' })).toBeNull()
  const reason = 'You do not have the right “power” on this deployment'
  for (const control of [
    within(card).getByRole('button', { name: 'Restart lobby' }),
    within(card).getByRole('switch', { name: 'lobby enabled' }),
  ]) {
    // A request would fail the test, because no response is prepared for it.
    await user.click(control)
    expect(control).toHaveAttribute('aria-disabled', 'true')
    expect(control).toHaveAccessibleDescription(reason)
  }
  expect(within(card).getByRole('switch')).toBeChecked()
})

describe('the page of an instance', () => {
  async function openInstance(rights: Right[], more: Partial<Instance> = {}) {
    const instance = instanceOf('a1b2c3-lobby', more)
    const instances = network.get('/api/deployments/lobby/instances').answersLater({ instances: [instance] })
    const app = await renderLimited(`/instance/lobby/${instance.uid}`, grantedOn('lobby', ...rights))
    // The rights of the user have loaded.
    await waitFor(() => expect(screen.queryByRole('link', { name: 'Databases' })).toBeNull())
    instances.release()
    return app
  }

  test('with the right power shows working power buttons, and says that the console needs another right', async () => {
    await openInstance(['power'])
    expect(await screen.findByText(/You do not have the right “console” on this deployment/)).toBeVisible()
    expect(screen.queryByRole('region', { name: 'Console' })).toBeNull()
    expect(await screen.findByRole('button', { name: 'Stop' })).toHaveAttribute('aria-disabled', 'false')
  })

  test('with the right console shows the console, and power buttons that do nothing', async () => {
    await openInstance(['console'])
    expect(await screen.findByRole('region', { name: 'Console' })).toBeVisible()
    const stop = await screen.findByRole('button', { name: 'Stop' })
    await waitFor(() => expect(stop).toHaveAttribute('aria-disabled', 'true'))
    expect(stop).toHaveAttribute('title', 'You do not have the right “power” on this deployment')
  })

  test('without the right console offers no details of a crash, and says why', async () => {
    const lastExit = { code: 1, signal: null, at: 1_700_000_000_000, reason: 'Ended by itself with exit code 1' }
    const blocked = {
      state: 'BLOCKED' as const,
      blockedReason: 'Ended 5 times within 5 minutes',
      crashedAt: lastExit.at,
    }
    const { user } = await openInstance(['power'], { ...blocked, lastExit })
    expect(await screen.findByRole('status', { name: 'Blocked' })).toHaveTextContent(/^Ended 5 times/)
    expect(screen.getByRole('button', { name: 'Start again' })).toBeVisible()
    expect(screen.queryByRole('button', { name: 'Open crash details' })).toBeNull()
    await user.click(screen.getByRole('tab', { name: 'Details' }))
    expect(await screen.findByText('Last crash')).toBeVisible()
    expect(screen.getByText('You do not have the right “console” on this deployment')).toBeVisible()
    expect(screen.queryByRole('region', { name: /crash/i })).toBeNull()
  })

  test('with neither right opens no console connection', async () => {
    const { console } = await openInstance([])
    await screen.findByText(/You do not have the right “console”/)
    await screen.findByRole('button', { name: 'Stop' })
    expect(console.urls).toEqual([])
  })
})

test('in place of the root, a limited user has the directories whose files they may use', async () => {
  await renderLimited('/files', [...grantedOn('lobby', 'files'), ...grantedOn('secret')])
  const list = await screen.findByRole('list', { name: 'Your directories' })
  expect(await within(list).findByRole('link')).toHaveAttribute('href', '/files/lobby')
  expect(within(list).getByRole('link')).toHaveTextContent('lobby/nfsshare/lobby')
})

test('directories that could not be loaded are said to be so, and are loaded on Retry', async () => {
  network.get('/api/account').answers({ role: 'limited', grants: grantedOn('lobby', 'files') })
  network.get('/api/deployments').answers(503)
  const app = renderApp('/files', { signedInAs: 'ann' })
  expect(await screen.findByText('Failed to load your directories')).toBeVisible()
  app.network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
  await app.user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await screen.findByRole('list', { name: 'Your directories' })).toBeVisible()
})

test('controls follow a change of rights: the server closes the connection, and the page opens it again', async () => {
  const { realtime } = await renderLimited('/deployments', grantedOn('lobby', 'power'))
  const control = await screen.findByRole('switch', { name: 'lobby enabled' })
  act(() => realtime.listener!.connected())
  await waitFor(() => expect(control).not.toHaveAttribute('aria-disabled', 'true'))
  network.get('/api/account').answers({ role: 'limited', grants: grantedOn('lobby') })
  act(() => realtime.listener!.disconnected())
  act(() => realtime.listener!.connected())
  await waitFor(() => expect(control).toHaveAttribute('aria-disabled', 'true'))
  expect(control).toHaveAccessibleDescription('You do not have the right “power” on this deployment')
})

test('a limited user without rights sees who can give them', async () => {
  network.shows([])
  await renderLimited('/', [])
  expect(await screen.findByText('An administrator has to give you rights on a deployment.')).toBeVisible()
})

test('if the server does not send rights, the page offers everything', async () => {
  network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
  network.get('/api/account').answers(404)
  renderApp('/deployments', { signedInAs: 'ann' })
  const card = await screen.findByRole('article', { name: 'lobby' })
  expect(within(card).getByRole('link', { name: 'Edit lobby' })).toBeVisible()
  expect(screen.getByRole('link', { name: 'Databases' })).toBeVisible()
})
