import { act, screen, waitFor, within } from '@testing-library/react'
import { problemLogged, sessionEnded } from '../../../../src/web/facts'
import { deploymentOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { bell, problemsIn } from '../../../support/web/problems'
import { renderApp } from '../../../support/web/renderApp'

beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => jest.restoreAllMocks())

async function rendered() {
  network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
  const app = renderApp('/deployments', { signedInAs: 'ann' })
  await waitFor(() => expect(bell()).toHaveAccessibleName('Problems'))
  const meet = (what: string, reason: string) => act(() => void app.store.dispatch(problemLogged(what, reason)))
  const open = async () => {
    await app.user.click(bell())
    return screen.findByRole('dialog', { name: 'Problems' })
  }
  return { ...app, meet, open }
}

test('the bell counts problems since its list was last opened', async () => {
  const { user, meet, open } = await rendered()
  meet('Failed to archive 1 item', 'The disk is full')
  meet('Failed to stop lobby-1', 'The console was not connected.')
  expect(bell()).toHaveAccessibleName('Problems: 2 new')
  const dialog = await open()
  expect(within(dialog).getAllByRole('listitem')[0]).toHaveTextContent(
    'Failed to stop lobby-1The console was not connected.',
  )
  expect(within(dialog).getAllByRole('listitem')[1]).toHaveTextContent('Failed to archive 1 itemThe disk is full')
  meet('Failed to delete bob', 'The database is not reachable')
  expect(within(dialog).getAllByRole('listitem')).toHaveLength(3)
  await user.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(bell()).toHaveAccessibleName('Problems')
  expect(bell()).toHaveFocus()
})

test('an empty problem list shows a message', async () => {
  const { open } = await rendered()
  expect(await open()).toHaveTextContent('Nothing has failed since you signed in or reloaded this page.')
})

test('a repeated problem is one entry with a count, at the top', async () => {
  const { meet, open } = await rendered()
  meet('Failed to load files of /nfsshare', 'Not mounted')
  meet('Failed to delete bob', 'No')
  meet('Failed to load files of /nfsshare', 'Not mounted')
  const [first, second] = within(await open()).getAllByRole('listitem')
  expect(first).toHaveTextContent(/^Failed to load files of \/nfsshareNot mounted.*, 2 times$/)
  expect(second).toHaveTextContent('Failed to delete bob')
})

test('an entry is copied with its time and reason', async () => {
  const { user, meet, open } = await rendered()
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  meet('Failed to archive 1 item', 'The disk is full')
  await user.click(within(await open()).getByRole('button', { name: 'Copy: Failed to archive 1 item' }))
  expect(write.mock.calls[0]?.[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z Failed to archive 1 item: The disk is full$/)
})

test('the problem log keeps the last 100 entries until the session ends', async () => {
  const { store, meet } = await rendered()
  for (let count = 0; count <= 100; count++) meet(`Try ${count}`, 'No')
  expect(problemsIn(store)).toHaveLength(100)
  expect(problemsIn(store).at(-1)).toBe('Try 1: No')
  act(() => void store.dispatch(sessionEnded('signedOut')))
  expect(problemsIn(store)).toEqual([])
})

test('a failure with a notification also appears in the problem log, with its reason', async () => {
  const { user, store } = await rendered()
  network.post('/api/deployments/lobby/restart').answers(503, { message: 'The runtime did not answer' })
  await user.click(await screen.findByRole('button', { name: /Restart/ }))
  await waitFor(() => expect(problemsIn(store)).toEqual(['Failed to restart lobby: The runtime did not answer']))
  expect(screen.getByRole('region', { name: 'Notifications' })).toHaveTextContent(/^Failed to restart lobby$/)
  expect(bell()).toHaveAccessibleName('Problems: 1 new')
})
