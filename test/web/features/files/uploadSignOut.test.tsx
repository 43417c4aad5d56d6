import { act, screen, waitFor, within } from '@testing-library/react'
import { sessionEnded } from '../../../../src/web/facts'
import { notifications } from '../../../support/web/notifications'
import { file, stored, uploading } from '../../../support/web/transfers'

test('logging out during uploads asks for confirmation', async () => {
  const { network, user, uploads, sends, store } = await uploading([file('a')])
  await sends('a')
  const logout = network.post('/api/auth/logout').answers({})
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  const question = await screen.findByRole('dialog', { name: 'Log out while uploading?' })
  await user.click(within(question).getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(uploads.of('a').aborted).toBe(false)
  expect(logout.calls).toHaveLength(0)
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Logout' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(uploads.of('a').aborted).toBe(true)
  expect(store.getState().uploads?.isSignOutAsked).toBeUndefined()
})

test('logging out of an expired session during uploads shows no error', async () => {
  const { network, user, sends, store } = await uploading([file('a')])
  await sends('a')
  network.post('/api/auth/logout').answers(401)
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Logout' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(store.getState().notifications).toEqual([])
})

test('a failed logout shows a notification and keeps the uploads', async () => {
  const { network, user, uploads, sends } = await uploading([file('a')])
  await sends('a')
  network.post('/api/auth/logout').answers(503)
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Logout' }))
  await waitFor(() => expect(notifications()).toEqual(['Failed to log out']))
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
  expect(uploads.of('a').aborted).toBe(false)
})

test('logging out after all uploads have finished does not ask', async () => {
  const { network, user, sends, answer } = await uploading([file('a')])
  await sends('a')
  await answer('a', 200, stored('a'))
  await screen.findByText('1 of 1 uploaded')
  network.post('/api/auth/logout').answers({})
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
})

test('§6 a 401 for an upload ends the session, aborts all uploads and clears the list', async () => {
  const { uploads, sends, answer, store } = await uploading([file('a'), file('b')])
  await sends('b')
  await answer('a', 401, { message: 'No session' })
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(uploads.of('b').aborted).toBe(true)
  expect(store.getState().uploads?.ids).toEqual([])
})

test('signing out aborts uploads', async () => {
  const { uploads, sends, store } = await uploading([file('a')])
  await sends('a')
  act(() => void store.dispatch(sessionEnded('signedOut')))
  expect(uploads.of('a').aborted).toBe(true)
})
