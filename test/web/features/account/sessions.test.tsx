import { screen, waitFor, within } from '@testing-library/react'
import type { OwnSession } from '../../../../src/contract/signIn/auth'
import { network } from '../../../support/web/network'
import { notifications } from '../../../support/web/notifications'
import { renderApp } from '../../../support/web/renderApp'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0'
const CHROME =
  'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Mobile Safari/537.36'
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 40_000).toISOString()
const sessionOf = (id: string, more: Partial<OwnSession> = {}): OwnSession => ({
  id,
  device: FIREFOX,
  address: '10.0.0.9',
  created_at: minutesAgo(9000),
  last_used_at: minutesAgo(5),
  current: false,
  ...more,
})
const own = sessionOf('own', { device: CHROME, address: '10.0.0.1', current: true, last_used_at: minutesAgo(-2) })

const dialog = () => screen.findByRole('dialog', { name: 'Your sessions' })

async function opened() {
  const app = renderApp('/no/such/page', { signedInAs: 'ann' })
  await app.user.click(await screen.findByRole('button', { name: 'Your account' }))
  await app.user.click(screen.getByRole('menuitem', { name: 'Your sessions' }))
  return app
}

test('each session shows its device, address and last use, with the current session first and marked', async () => {
  network
    .get('/api/sessions')
    .answers({ sessions: [sessionOf('b', { last_used_at: minutesAgo(300) }), sessionOf('a'), own] })
  await opened()
  const rows = await within(await dialog()).findAllByRole('listitem')
  expect(rows.map((row) => row.textContent)).toEqual([
    'Chrome on AndroidThis session10.0.0.1 · used now',
    'Firefox on Windows10.0.0.9 · used 5 minutes agoEnd',
    'Firefox on Windows10.0.0.9 · used 5 hours agoEnd',
  ])
  // The full user agent stays available as a tooltip.
  expect(screen.getByText('Chrome on Android')).toHaveAttribute('title', CHROME)
})

test('ending a session asks for confirmation, shows progress and keeps focus in the dialog', async () => {
  network.get('/api/sessions').answers({ sessions: [own, sessionOf('a')] })
  const { user } = await opened()
  const { calls, release } = network.delete('/api/sessions/a').answersLater({})
  await user.click(await screen.findByRole('button', { name: 'End the session of Firefox on Windows at 10.0.0.9' }))
  const question = await screen.findByRole('dialog', { name: 'End Session' })
  expect(question).toHaveTextContent('End the session of Firefox on Windows at 10.0.0.9?')
  expect(calls).toHaveLength(0)
  await user.click(within(question).getByRole('button', { name: 'End' }))
  expect(within(question).getByRole('button', { name: 'Ending...' })).toHaveAttribute('aria-busy', 'true')
  network.get('/api/sessions').answers({ sessions: [own] })
  release()
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'End Session' })).not.toBeInTheDocument())
  expect(within(await dialog()).getAllByRole('listitem')).toHaveLength(1)
  expect(screen.getByText('You are signed in nowhere else.')).toBeVisible()
  expect(notifications()).toEqual(['Ended the session'])
  expect(await dialog()).toContainElement(document.activeElement as HTMLElement)
  await user.click(within(await dialog()).getAllByRole('button', { name: 'Close' })[0]!)
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(screen.getByRole('button', { name: 'Your account' })).toHaveFocus()
})

test('End all others ends all other sessions with one request', async () => {
  network.get('/api/sessions').answers({ sessions: [own, sessionOf('a'), sessionOf('b')] })
  const { user } = await opened()
  const { calls } = network.delete('/api/sessions').answers({})
  await user.click(await screen.findByRole('button', { name: 'End all others' }))
  const question = await screen.findByRole('dialog', { name: 'End All Other Sessions' })
  expect(question).toHaveTextContent('End your 2 other sessions?')
  network.get('/api/sessions').answers({ sessions: [own] })
  await user.click(within(question).getByRole('button', { name: 'End' }))
  await waitFor(() => expect(notifications()).toEqual(['Ended all other sessions']))
  expect(calls).toHaveLength(1)
  expect(within(await dialog()).getAllByRole('listitem')).toHaveLength(1)
})

test('a session that could not be ended stays listed, and the dialog shows the server message', async () => {
  network.get('/api/sessions').answers({ sessions: [own, sessionOf('a')] })
  const { user } = await opened()
  network.delete('/api/sessions/a').answers(503, { message: 'The database is not reachable' })
  await user.click(await screen.findByRole('button', { name: /^End the session of/ }))
  const question = await screen.findByRole('dialog', { name: 'End Session' })
  await user.click(within(question).getByRole('button', { name: 'End' }))
  expect(await within(question).findByRole('alert')).toHaveTextContent('The database is not reachable')
  expect(notifications()).toEqual(['Failed to end the session'])
  await user.click(within(question).getByRole('button', { name: 'Cancel' }))
  expect(within(await dialog()).getAllByRole('listitem')).toHaveLength(2)
})

test('decisions §0: a 404 shows that the server offers no session list, and the rest of the console works', async () => {
  network.get('/api/sessions').answers(404)
  const { user } = await opened()
  expect(await screen.findByText('This server does not offer a list of your sessions.')).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Retry' })).not.toBeInTheDocument()
  await user.click(within(await dialog()).getAllByRole('button', { name: 'Close' })[0]!)
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
})

test('a list that failed to load shows the failure, and Retry refetches it', async () => {
  network.get('/api/sessions').answers(500)
  const { user } = await opened()
  expect(await screen.findByText('Failed to load your sessions')).toBeVisible()
  network.get('/api/sessions').answers({ sessions: [own] })
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await within(await dialog()).findAllByRole('listitem')).toHaveLength(1)
  expect(screen.queryByText('Failed to load your sessions')).not.toBeInTheDocument()
})
