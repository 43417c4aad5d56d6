import { act, screen, waitFor, within } from '@testing-library/react'
import { lobby, CALL, instancePage } from '../../../support/web/instancePage'

const banner = () => screen.getByRole('status', { name: 'Blocked' })

test('an instance whose jar is missing shows where it is expected, with links to files and configuration', async () => {
  await instancePage({
    state: 'BLOCKED',
    blockedReason: 'Jar file not found! Expected path: /nfsshare/lobby/server.jar',
  })
  expect(banner()).toHaveTextContent('Jar file not found! Expected path: /nfsshare/lobby/server.jar')
  expect(within(banner()).getByRole('link', { name: 'Open files' })).toHaveAttribute('href', '/files/lobby')
  expect(within(banner()).getByRole('link', { name: 'Open configuration' })).toBeVisible()
  expect(within(banner()).queryByRole('button')).toBeNull()
})

test('an instance that crashed too often shows its last exit, opens the crash details and starts again', async () => {
  const lastExit = { code: 3, signal: null, at: 1_700_000_000_000, reason: 'Ended by itself with exit code 3' }
  const { user, console, network } = await instancePage({
    state: 'BLOCKED',
    blockedReason: 'Ended 5 times within 5 minutes, the last time with exit code 3',
    lastExit,
    crashedAt: lastExit.at,
  })
  expect(banner()).toHaveTextContent('Last exit: Ended by itself with exit code 3')
  await user.click(within(banner()).getByRole('button', { name: 'Start again' }))
  expect(console.sent).toEqual([{ type: 'power', action: 'start' }])
  network
    .get(`${CALL}/${lobby.uid}/crash`)
    .answers({ exit: lastExit, lines: [{ seq: 1, type: 'error', content: 'boom' }], cpu: [], memory: [] })
  await user.click(within(banner()).getByRole('button', { name: 'Open crash details' }))
  expect(await screen.findByText('boom')).toBeVisible()
  expect(window.location.search).toBe('?tab=details')
})

test('a blocked process, which cannot be started on its own, leads to its deployment', async () => {
  await instancePage({ type: 'process', state: 'BLOCKED', blockedReason: 'Port 80 is taken by a web server.' })
  expect(banner()).toHaveTextContent('Port 80 is taken by a web server.Fix this, then restart its deployment.')
  expect(within(banner()).getByRole('link', { name: 'Open deployments' })).toHaveAttribute('href', '/deployments')
})

test('an instance whose start is tried again asks for no fix', async () => {
  await instancePage({ state: 'BLOCKED', blockedReason: 'Could not be started: no memory. The platform tries again.' })
  expect(banner()).toHaveTextContent(
    /^Could not be started: no memory. The platform tries again.To try at once, start it again.Open configuration$/,
  )
})

test('the banner needs no reason from the server, and is gone when the instance is not blocked any more', async () => {
  const { console } = await instancePage({ state: 'BLOCKED' })
  expect(banner()).toHaveTextContent('The instance is blocked.The last lines of its console show the reason.')
  act(() => console.receive({ type: 'power', content: 'RUNNING' }))
  await waitFor(() => expect(screen.queryByRole('status', { name: 'Blocked' })).toBeNull())
})
