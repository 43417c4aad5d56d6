import { act, screen, within } from '@testing-library/react'
import { sessionEnded } from '../../../../src/web/facts'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'
import { tokenOf } from '../../../support/web/factories'

const TOKEN = tokenOf('ann')
const AT = new Date(2026, 10, 20, 10, 2).toISOString()

function shown(stored?: Record<string, string>) {
  network.shows([])
  network
    .get('/api/account')
    .answers({ role: 'operator', grants: [], previous_sign_in: { at: AT, address: '10.0.0.7' } })
  return renderApp('/', { token: TOKEN, ...(stored && { stored }) })
}

const notice = () => screen.queryByRole('region', { name: 'Last sign-in' })

test('after a sign-in the page names the last one with its time and address, until it is dismissed', async () => {
  const { user } = shown()
  const region = await screen.findByRole('region', { name: 'Last sign-in' })
  expect(region).toHaveTextContent(/^Last sign-in: .* from 10\.0\.0\.7\./)
  expect(within(region).getByTitle(/Nov.* 20, 2026/)).toBeVisible()
  await user.click(within(region).getByRole('button', { name: 'Dismiss' }))
  expect(notice()).not.toBeInTheDocument()
})

test('another page hides the last sign-in, and a reload does not show it again', async () => {
  const { user, services, leave } = shown()
  await screen.findByRole('region', { name: 'Last sign-in' })
  for (const type of ['sql', 'mongo']) network.get(`/api/database/${type}`).answers({ databases: [] })
  await user.click(screen.getByRole('link', { name: 'Databases' }))
  await screen.findByRole('heading', { name: 'Databases' })
  expect(notice()).not.toBeInTheDocument()
  const stored = Object.fromEntries(services.stored)
  leave()

  shown(stored)
  await screen.findByRole('heading', { name: 'Network Overview' })
  expect(notice()).not.toBeInTheDocument()
})

test('the end of an older session in another tab does not show the last sign-in of the new one again', async () => {
  const { store, services } = shown()
  await screen.findByRole('region', { name: 'Last sign-in' })
  // Another tab has signed in again and shown it, and this one has not noticed yet.
  services.jar.set('token', tokenOf('ann', { id: 'newer' }))
  services.stored.set('previousSignInShown', 'newer')
  act(() => void store.dispatch(sessionEnded('gone')))
  expect(services.stored.get('previousSignInShown')).toBe('newer')
})

test('the list of sessions names the last sign-in as well', async () => {
  network.get('/api/sessions').answers({ sessions: [] })
  const { user } = shown()
  const region = await screen.findByRole('region', { name: 'Last sign-in' })
  await user.click(within(region).getByRole('button', { name: 'Your sessions' }))
  expect(await screen.findByRole('dialog', { name: 'Your sessions' })).toHaveTextContent('Last sign-in: ')
})
