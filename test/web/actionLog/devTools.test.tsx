import { devTools } from '../../support/web/devTools'
import { act, screen, waitFor } from '@testing-library/react'
import { linesReceived } from '../../../src/web/sockets/consoleSlice'
import { append } from '../../../src/web/sockets/lineBuffer'
import { deploymentOf, instanceOf, userOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { problemsIn } from '../../support/web/problems'
import { renderApp } from '../../support/web/renderApp'

afterEach(() => {
  jest.useRealTimers()
})

test('decisions §10: Redux DevTools receive no sign-in credentials, and only a few lines of a burst', async () => {
  network.post('/api/auth/login').answers(401, { message: 'The username or password is not right.' })
  const { user } = renderApp('/login')
  await user.type(await screen.findByLabelText('Username'), 'ann')
  await user.type(screen.getByLabelText('Password'), 'canary-password')
  await user.click(screen.getByRole('button', { name: 'Sign In' }))
  await screen.findByRole('alert')
  expect(devTools.seen).toContainEqual({ type: 'api/executeMutation/rejected' })
  expect(JSON.stringify(devTools.seen)).not.toContain('canary')
})

test('decisions §10: Redux DevTools receive redacted actions and state from the first page after sign-in', async () => {
  const instance = instanceOf('abc123-lobby')
  network.shows([{ deployment: deploymentOf('lobby'), instances: [instance] }])
  network.get('/api/deployments/lobby/instances').answers({ instances: [instance] })
  const { store } = renderApp(`/instance/lobby/${instance.uid}`, { signedInAs: 'ann' })
  await screen.findByRole('heading', { name: 'abc123-lobby' })
  act(
    () =>
      void store.dispatch(
        linesReceived(
          Array.from({ length: 400 }, (_, index) => ({
            type: 'message' as const,
            content: index === 399 ? 'password=canary' : `line ${index}`,
          })),
        ),
      ),
  )
  expect(devTools.seen.at(-1)).toMatchObject({
    type: 'console/linesReceived',
    payload: expect.arrayContaining([365, 'mpassword •••']),
  })
  const state = devTools.showState(store.getState()) as { console: object; session: object }
  expect(state).toMatchObject({
    console: { buffer: { lines: 400, last: ['line 397', 'line 398', 'password •••'] } },
    session: { current: { isAdmin: false } },
  })
  expect(JSON.stringify(state)).not.toContain('canary')

  const before = store.getState().console!
  const withCommand = devTools.showState({
    ...store.getState(),
    console: {
      ...before,
      submitted: 'canary-9',
      buffer: append(before.buffer, [{ type: 'command', content: '> someplugin canary-8' }]),
    },
  })
  expect(withCommand).toMatchObject({
    console: { buffer: { last: ['line 398', 'password •••', '> someplugin ••• (19 characters)'] } },
  })
  expect(JSON.stringify(withCommand)).not.toContain('canary')
})

test('decisions §10: Redux DevTools receive no failure message that quotes masked arguments', async () => {
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true), userOf(2, 'bob')] })
  network.patch('/api/users/2/password').answers(400, { code: 'BAD_INPUT', message: 'Too weak: canary-password' })
  network.patch('/api/users/2/admin').answers(409, { code: 'CONFLICT', message: 'Not bob' })
  const { store, user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  await user.click(await screen.findByRole('switch', { name: 'bob is an administrator' }))
  await waitFor(() => expect(JSON.stringify(store.getState().api.mutations)).toContain('Not bob'))
  await user.click(screen.getByRole('button', { name: 'Actions for bob' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Reset password' }))
  await user.type(await screen.findByLabelText('New password'), 'canary-password')
  await user.click(screen.getByRole('button', { name: 'Reset' }))
  await waitFor(() => expect(problemsIn(store)[0]).toContain('Too weak: canary-password'))
  const shown = JSON.stringify(devTools.showState(store.getState()))
  expect(shown).not.toContain('canary')
  expect(shown).toContain('BAD_INPUT')
  expect(shown).toContain('Not bob')
})

test('time travel in Redux DevTools opens no socket and sends no request', async () => {
  // Fake timers keep polls from running.
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick', 'performance'] })
  const instance = instanceOf('abc123-lobby')
  const { calls } = network.get('/api/deployments/lobby/instances').answers({ instances: [instance] })
  const { store, console: channel, realtime } = renderApp(`/instance/lobby/${instance.uid}`, { signedInAs: 'ann' })
  await waitFor(() => expect(channel.listener).toBeDefined())
  await screen.findByText('Connecting…')
  const before = store.getState()
  act(() => channel.listener?.opened())
  await screen.findByText('Connected')
  const known = {
    calls: calls.length,
    urls: channel.urls.length,
    opened: realtime.opened,
    sent: channel.sent.length,
    closed: channel.closed,
  }
  act(() => devTools.jump(before))
  await screen.findByText('Connecting…')
  expect({
    calls: calls.length,
    urls: channel.urls.length,
    opened: realtime.opened,
    sent: channel.sent.length,
    closed: channel.closed,
  }).toEqual(known)
})
