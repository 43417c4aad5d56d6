import { act, screen, waitFor, within } from '@testing-library/react'
import type { ActionLog } from '../../../src/contract/actionLog'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { readLog } from '../../../src/web/actionLog/replay/readLog'
import { recorderOf } from '../../../src/web/actionLog/record/record'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import type { RootReducer } from '../../../src/web/actionLog/replay/steps'
import { writeLog } from '../../../src/web/actionLog/export/writeLog'
import type { AppStore } from '../../../src/web/app/store'
import { sessionEnded, sessionStarted } from '../../../src/web/facts'
import { sectionToggled } from '../../../src/web/features/overview/overviewSlice'
import { deploymentOf, instanceOf, tokenOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'
import { savedLogs } from '../../support/web/savedLogs'

const about = { build: 'test', exportedAt: 0, viewport: { width: 1440, height: 900 }, route: '/' }

/** The keyboard shortcut that exports the log. */
const press = '{Control>}{Shift>}[KeyL]{/Shift}{/Control}'

const logOf = (store: AppStore) => JSON.stringify(writeLog(recorderOf(store).recording(), about, replayReducer))
const expectFaithful = (text: string) => {
  const log = readLog(text)
  expect(replayLog(log, replayReducer)).toMatchObject({ deviations: [], final: [] })
  return log
}

test('decisions §10: the log contains no sign-in credentials and replays to the same state', async () => {
  network.post('/api/auth/login').answers(401, { message: 'Wrong: canary-password' })
  const { store, user } = renderApp('/login?token=canary-ticket')
  await user.type(await screen.findByLabelText('Username'), 'ann')
  await user.type(screen.getByLabelText('Password'), 'canary-password')
  await user.click(screen.getByRole('button', { name: 'Sign In' }))
  await screen.findByRole('alert')
  recorderOf(store)
  network.post('/api/auth/login').answers(401, { message: 'Wrong again: canary-password' })
  await user.click(screen.getByRole('button', { name: 'Sign In' }))
  await screen.findByText(/Wrong again/)
  network.post('/api/auth/login').answers({ sessionToken: 'canary-session' })
  await user.click(screen.getByRole('button', { name: 'Sign In' }))
  const token = tokenOf('canary-token')
  network.post('/api/auth/verify-login').answers({ token, isAdmin: 0 })
  network.shows([{ deployment: deploymentOf('lobby'), instances: [instanceOf('abc123-lobby')] }])
  await user.type(await screen.findByLabelText('Verification code'), '739156')
  await user.click(screen.getByRole('button', { name: 'Verify Code' }))
  await screen.findByText('abc123-lobby')

  const text = logOf(store)
  expect(text).not.toContain('canary-password')
  expect(text).not.toContain('canary-session')
  expect(text).not.toContain('canary-ticket')
  expect(text).not.toContain('739156')
  expect(text).not.toContain(token)
  const log = expectFaithful(text)
  expect(log.actions.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['route/changed', 'login/usernameTyped', 'session/started', 'api/executeQuery/fulfilled']),
  )
  expect(log.final).toMatchObject({ route: '/', session: { current: { isAdmin: false } } })
})

test('decisions §10: the log contains neither an invite code from the URL nor the data of a registration', async () => {
  const { store, user } = renderApp('/register?invite=canary-invite')
  recorderOf(store)
  network.post('/api/auth/verify-invite').answers({ token: 'canary-invite-token' })
  await user.click(await screen.findByRole('button', { name: 'Continue' }))
  network.post('/api/auth/register').answers({ qrCode: 'data:image/png;base64,canaryqr', secret: 'CANARYSECRET' })
  await user.type(await screen.findByLabelText('Username'), 'ann')
  await user.type(screen.getByLabelText('Password'), 'canary-password')
  await user.click(screen.getByRole('button', { name: 'Continue' }))
  await screen.findByRole('img', { name: /QR code/ })
  const text = logOf(store)
  expect(text).not.toMatch(/canary/i)
  const log = expectFaithful(text)
  expect(log.final.route).toBe('/register')
  // The QR code is replaced by a local image that needs no request.
  expect(text).toContain('data:image/svg+xml')
})

const signedIn = async () => {
  network.shows([{ deployment: deploymentOf('lobby'), instances: [instanceOf('abc123-lobby')] }])
  const app = renderApp('/', { signedInAs: 'ann' })
  recorderOf(app.store)
  await screen.findByText('abc123-lobby')
  return app
}

test('replayLog reports the action and the state changes when a reducer deviates from the recording', async () => {
  const { store, user } = await signedIn()
  await user.click(screen.getByRole('button', { name: /^lobby/ }))
  const log = readLog(logOf(store))
  const broken: RootReducer = (state, action) => {
    const next = replayReducer(state, action)
    if (action.type !== 'overview/sectionToggled') return next
    return { ...next, overview: { ...(next as { overview: object }).overview, collapsed: ['other'] } }
  }
  const { deviations, final } = replayLog(log, broken)
  expect(log.actions[deviations[0]!.index]!.type).toBe('overview/sectionToggled')
  expect(deviations[0]).toMatchObject({
    parts: ['overview'],
    changes: [{ path: 'overview.collapsed.0', after: 'other' }],
  })
  expect(final).toEqual([{ path: 'overview.collapsed.0', before: 'lobby', after: 'other' }])

  const throwing: RootReducer = (state, action) => {
    if (action.type === 'overview/sectionToggled') throw new Error('no such section')
    return replayReducer(state, action)
  }
  expect(replayLog(log, throwing).deviations[0]).toMatchObject({ parts: ['overview'], thrown: 'no such section' })
})

test('the log keeps the last 2,000 actions and advances its base state', async () => {
  const { store } = await signedIn()
  const { note } = recorderOf(store)
  for (let count = 0; count < 2100; count++) note(Date.now(), sectionToggled(`section-${count % 4}`))
  const log = expectFaithful(logOf(store))
  expect(log.actions).toHaveLength(2000)
  expect(log.actions[0]!.at).toBeGreaterThanOrEqual(0)
  // 2,100 actions are 525 for each of four sections, and 525 is odd. No deployment has their names, which are hidden.
  expect((log.final.overview as { collapsed: string[] }).collapsed).toHaveLength(4)
  expect(log.base.session).toMatchObject({ current: { isAdmin: false } })
})

test('an action without a redaction rule is recorded with a masked payload', async () => {
  const { store } = await signedIn()
  store.dispatch({ type: 'unheard/of', payload: { note: 'canary', count: 7 } })
  const log = readLog(logOf(store))
  expect(log.actions.at(-1)).toMatchObject({ type: 'unheard/of', payload: { note: '•'.repeat(16), count: 0 } })
})

test.each<[string, (text: string) => string, RegExp]>([
  ['incomplete', (text) => text.slice(0, -40), /not valid JSON, or it is incomplete: line 1, column \d+/],
  ['empty', () => '', /is empty/],
  ['JSON of another format', () => '{"name": "lobby"}', /not an action log/],
  [
    'an action log of another version',
    (text) => text.replace('"version":1', '"version":9'),
    /version 9, but this console reads version 1/,
  ],
  [
    'an action log with an invalid time',
    (text) => text.replace(/"at":\d+/, '"at":"soon"'),
    /damaged at actions\.0\.at: .*number/,
  ],
  [
    'an action log with a changed final state',
    (text) => text.replace(/("final":.*?"route":)"[^"]*"/, '$1"/elsewhere"'),
    /damaged at final/,
  ],
])('a log file is rejected with a reason if it is %s', async (_what, damage, message) => {
  const { store } = await signedIn()
  act(() => void store.dispatch(sessionEnded('signedOut')))
  await waitFor(() => expect(store.getState().session.current).toBeNull())
  expect(() => readLog(damage(logOf(store)))).toThrow(message)
})

test('the hash of a log is the same in memory and after reading its file', async () => {
  const { store } = await signedIn()
  const log = writeLog(recorderOf(store).recording(), about, replayReducer)
  expect(readLog(JSON.stringify(log)).hash).toBe((log satisfies ActionLog).hash)
})

test('the user menu and Ctrl+Shift+L save the log as a file', async () => {
  const saved = savedLogs()
  const { user } = await signedIn()
  await user.click(screen.getByRole('button', { name: 'Your account' }))
  await user.click(screen.getByRole('menuitem', { name: 'Export action log' }))
  await user.click(await screen.findByRole('button', { name: 'Save' }))
  await waitFor(() => expect(saved).toHaveLength(1))
  await user.keyboard(press)
  await waitFor(() => expect(saved).toHaveLength(2))
  expect(saved[1]!.log.actions.length).toBeGreaterThanOrEqual(saved[0]!.log.actions.length)
  expectFaithful(JSON.stringify(saved[1]!.log))
})

test('the sign-in page does not export the log of the previous user, and shows a notification', async () => {
  const saved = savedLogs()
  network.post('/api/auth/logout').answers({})
  const { user } = await signedIn()
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await screen.findByLabelText('Username')
  await user.keyboard(press)
  await screen.findByText('There is nothing to export since the last user signed out')
  expect(saved).toHaveLength(0)
  await user.click(screen.getByRole('button', { name: 'Dismiss' }))
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Notifications' })).not.toBeInTheDocument())

  network.post('/api/auth/login').answers(401, { message: 'Wrong' })
  await user.type(screen.getByLabelText('Username'), 'bob')
  await user.type(screen.getByLabelText('Password'), 'canary-password')
  await user.click(screen.getByRole('button', { name: 'Sign In' }))
  await screen.findByRole('alert')
  await user.keyboard(press)
  await waitFor(() => expect(saved).toHaveLength(1))
  const text = JSON.stringify(saved[0]!.log)
  expectFaithful(text)
  expect(text).toContain('"endpointName":"login"')
  expect(text).not.toMatch(/abc123|canary|"ann"|"bob"/)
})

test('signing in again as the same user keeps the whole log', async () => {
  const { store } = await signedIn()
  const { current } = store.getState().session
  const { note, forgetSignedOut } = recorderOf(store)
  for (const action of [sessionEnded('signedOut'), sessionStarted(current!)]) note(Date.now(), action)
  expect(forgetSignedOut()).toBe(true)
  expect(logOf(store)).toContain('abc123-lobby')
})

test('the log of the previous user is dropped when another user signs in', async () => {
  const { store } = await signedIn()
  const session = { ...store.getState().session.current!, id: 'other', subject: '2', username: 'bob' }
  expect(logOf(store)).toContain('abc123-lobby')
  network.shows([])
  act(() => void store.dispatch(sessionEnded('signedOut')))
  act(() => void store.dispatch(sessionStarted(session)))
  expect(logOf(store)).not.toContain('abc123-lobby')
})

test('the export dialog lists the contents by kind and can search them', async () => {
  const saved = savedLogs()
  const { user } = await signedIn()
  await user.click(screen.getByRole('button', { name: 'Your account' }))
  await user.click(screen.getByRole('menuitem', { name: 'Export action log' }))
  const dialog = await screen.findByRole('dialog', { name: 'Export action log' })
  const rows = () =>
    within(dialog)
      .getAllByRole('row')
      .slice(1)
      .map((row) => row.textContent)
  expect(rows()).toContain('account/accountDialogOpened1')
  expect(rows().some((row) => /^Call getOverview\d+$/.test(row))).toBe(true)
  expect(rows().slice(-2)).toEqual(['State before the first action1', 'State after the last action1'])

  const field = within(dialog).getByRole('searchbox', { name: 'Search the file' })
  await user.type(field, 'USERMENUOPENED{Enter}')
  expect(within(dialog).getByRole('status')).toHaveTextContent('Found in 1 place.')
  expect(rows()).toEqual([expect.stringMatching(/^account\/userMenuOpened.*"type":"account\/userMenuOpened".*1$/)])
  await user.clear(field)
  await user.type(field, 'hunter2')
  expect(within(dialog).getByRole('status')).toHaveTextContent('Not in the file.')
  expect(saved).toHaveLength(0)

  await user.click(within(dialog).getByRole('button', { name: 'Save' }))
  expect(saved).toHaveLength(1)
  // The search text is not recorded either.
  expect(JSON.stringify(saved[0]!.log)).not.toContain('hunter2')
})
