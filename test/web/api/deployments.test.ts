import { screen, waitFor } from '@testing-library/react'
import { deploymentOf } from '../../support/web/factories'
import { renderApp } from '../../support/web/renderApp'

afterEach(() => jest.restoreAllMocks())

test('decisions §4: a restart request times out after 4 hours (§14 may wait for players), other requests after 30 s', async () => {
  const timeouts = jest.spyOn(AbortSignal, 'timeout')
  const { network, user } = renderApp('/deployments', { signedInAs: 'ann' })
  network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
  const { calls } = network.post('/api/deployments/lobby/restart').answersLater({})
  const restart = await screen.findByRole('button', { name: 'Restart lobby' })
  // Of the list, and of what the user may do.
  expect(timeouts.mock.calls).toEqual([[30_000], [30_000]])
  await user.click(restart)
  await waitFor(() => expect(calls).toHaveLength(1))
  expect(timeouts.mock.calls).toEqual([[30_000], [30_000], [14_400_000]])
})

test('deployment names are URL-encoded in links and request paths', async () => {
  const { network, user } = renderApp('/deployments', { signedInAs: 'ann' })
  network.get('/api/deployments').answers({ deployments: [deploymentOf('a/b?c')] })
  const { calls } = network.post('/api/deployments/a%2Fb%3Fc/restart').answers({})
  expect(await screen.findByRole('link', { name: 'Edit a/b?c' })).toHaveAttribute('href', '/deployments/a%2Fb%3Fc/edit')
  await user.click(screen.getByRole('button', { name: 'Restart a/b?c' }))
  await waitFor(() => expect(calls).toHaveLength(1))
})
