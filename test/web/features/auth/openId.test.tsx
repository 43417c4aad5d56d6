import { screen, waitFor } from '@testing-library/react'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'

const provider = (openId?: { name: string; available: boolean }) =>
  network.get('/api/auth/methods').answers({ passkeys: false, ...(openId && { openId }) })

test('the login page offers to sign in with the provider, and leads to the page that was asked for', async () => {
  provider({ name: 'Harbour', available: true })
  renderApp('/files/lobby?view=1')
  expect(await screen.findByRole('link', { name: 'Sign in with Harbour' })).toHaveAttribute(
    'href',
    '/api/auth/oidc/start?to=%2Ffiles%2Flobby%3Fview%3D1',
  )
})

test('a provider that does not answer is named, and signing in with a password is still possible', async () => {
  provider({ name: 'Harbour', available: false })
  renderApp('/login')
  expect(await screen.findByText(/^Harbour does not answer at the moment/)).toBeVisible()
  expect(screen.queryByRole('link', { name: /Harbour/ })).not.toBeInTheDocument()
  expect(screen.getByRole('button', { name: 'Sign In' })).toBeEnabled()
})

test.each([
  ['no-role', 'Your account at the provider has no role in this console. Ask your administrator for one.'],
  ['<b>x</b>', 'The sign-in failed. Please try again.'],
  ['__proto__', 'The sign-in failed. Please try again.'],
  ['constructor', 'The sign-in failed. Please try again.'],
])('the login page says why the provider did not sign the user in: %s', async (reason, sentence) => {
  provider({ name: 'Harbour', available: true })
  renderApp(`/login?sso=${encodeURIComponent(reason)}`)
  expect(await screen.findByRole('alert')).toHaveTextContent(sentence)
})

test('without a provider the login page has no such button', async () => {
  const methods = provider()
  renderApp('/login')
  await screen.findByRole('button', { name: 'Sign In' })
  await waitFor(() => expect(methods.calls).toHaveLength(1))
  expect(screen.queryByText(/Sign in with/)).not.toBeInTheDocument()
})
