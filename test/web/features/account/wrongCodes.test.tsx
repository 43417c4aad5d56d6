import { act, screen, within } from '@testing-library/react'
import { replayLog } from '../../../../src/web/actionLog/replay/checkLog'
import { readLog } from '../../../../src/web/actionLog/replay/readLog'
import { recorderOf } from '../../../../src/web/actionLog/record/record'
import { replayReducer } from '../../../../src/web/actionLog/replay/replayReducer'
import { writeLog } from '../../../../src/web/actionLog/export/writeLog'
import { sessionEnded } from '../../../../src/web/facts'
import { wrongCodesDismissed } from '../../../../src/web/features/account/accountSlice'
import { tokenOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'

const SINCE = new Date(2026, 10, 20, 10, 2).getTime()
const TOKEN = tokenOf('ann')

/** Signs in through the login page; the server reports these wrong codes. */
async function signedIn(wrongCodes?: unknown) {
  network.shows([])
  network.post('/api/auth/login').answers({ sessionToken: 'step-1' })
  network
    .post('/api/auth/verify-login')
    .answers({ token: TOKEN, isAdmin: 0, ...(wrongCodes !== undefined && { wrongCodes }) })
  const app = renderApp('/login')
  await app.user.type(await screen.findByLabelText('Username'), 'ann')
  await app.user.type(screen.getByLabelText('Password'), 'correct horse')
  await app.user.click(screen.getByRole('button', { name: 'Sign In' }))
  await app.user.type(await screen.findByLabelText('Verification code'), '123456')
  await app.user.click(screen.getByRole('button', { name: 'Verify Code' }))
  await screen.findByRole('heading', { name: 'Network Overview' })
  return app
}

const findNotice = () => screen.findByRole('region', { name: 'Wrong codes' })
const queryNotice = () => screen.queryByRole('region', { name: 'Wrong codes' })

test('the sign-in notice shows the number of wrong codes and their start until it is dismissed', async () => {
  const { user } = await signedIn({ count: 12, since: SINCE })
  const notice = await findNotice()
  expect(within(notice).getByRole('heading')).toHaveTextContent(/^12 wrong codes since .*Nov.* 20, 2026/)
  for (const type of ['sql', 'mongo']) network.get(`/api/database/${type}`).answers({ databases: [] })
  await user.click(screen.getByRole('link', { name: 'Databases' }))
  await screen.findByRole('heading', { name: 'Databases' })
  expect(notice).toBeVisible()
  await user.click(within(notice).getByRole('button', { name: 'Dismiss' }))
  expect(queryNotice()).not.toBeInTheDocument()
})

test('a sign-in without wrong codes shows no notice', async () => {
  await signedIn()
  expect(queryNotice()).not.toBeInTheDocument()
})

test.each([
  ['string', 'many'],
  ['number', 3],
  ['invalid count', { count: 'x', since: SINCE }],
  ['invalid time', { count: 1, since: 'soon' }],
])('an unknown wrongCodes value (%s) is ignored', async (_what, wrongCodes) => {
  await signedIn(wrongCodes)
  expect(queryNotice()).not.toBeInTheDocument()
})

test('the wrong-code notice links to the password change', async () => {
  const { user } = await signedIn({ count: 1, since: SINCE })
  const notice = await findNotice()
  expect(within(notice).getByRole('heading')).toHaveTextContent(/^1 wrong code since/)
  await user.click(within(notice).getByRole('button', { name: 'Change password' }))
  expect(await screen.findByRole('dialog', { name: 'Change Password' })).toBeVisible()
  expect(notice).toBeInTheDocument()
})

test('a reload shows the wrong-code notice again until it is dismissed; another session does not show it', async () => {
  const { services, leave } = await signedIn({ count: 12, since: SINCE })
  await findNotice()
  const stored = Object.fromEntries(services.stored)
  leave()

  const again = renderApp('/', { token: TOKEN, stored })
  await again.user.click(within(await findNotice()).getByRole('button', { name: 'Dismiss' }))
  expect(again.services.stored.has('wrongCodes')).toBe(false)
  again.leave()

  renderApp('/', { token: tokenOf('bob'), stored })
  await screen.findByRole('heading', { name: 'Network Overview' })
  expect(queryNotice()).not.toBeInTheDocument()
})

test('the wrong codes that a sign-in by OpenID Connect has left in a cookie are shown, also after a reload', async () => {
  network.shows([])
  const cookies = { wrongCodes: JSON.stringify({ count: 2, since: SINCE }) }
  const { services, leave } = renderApp('/', { token: TOKEN, cookies })
  expect(within(await findNotice()).getByRole('heading')).toHaveTextContent(/^2 wrong codes since/)
  expect(services.jar.has('wrongCodes')).toBe(false)
  leave()
  renderApp('/', { token: TOKEN, stored: Object.fromEntries(services.stored) })
  expect(await findNotice()).toBeVisible()
})

test.each(['', 'null', '7', '{"count":"x"}', '{'])('a cookie of wrong codes that has "%s" is ignored', async (text) => {
  network.shows([])
  const { services } = renderApp('/', { token: TOKEN, cookies: { wrongCodes: text } })
  await screen.findByRole('heading', { name: 'Network Overview' })
  expect(queryNotice()).not.toBeInTheDocument()
  expect(services.jar.has('wrongCodes')).toBe(false)
})

test('the end of the session removes the wrong-code notice', async () => {
  const { store, services } = await signedIn({ count: 12, since: SINCE })
  await findNotice()
  act(() => void store.dispatch(sessionEnded('signedOut')))
  expect(queryNotice()).not.toBeInTheDocument()
  expect(services.stored.has('wrongCodes')).toBe(false)
})

test.each([
  ['end of an older session', sessionEnded('gone')],
  ['dismissal in an older session', wrongCodesDismissed()],
])('the %s in another tab keeps the wrong codes of the new session for a reload', async (_what, action) => {
  const { store, services, leave } = await signedIn({ count: 1, since: SINCE })
  await findNotice()
  // Another tab has signed in again, and this one has not noticed yet.
  const newer = tokenOf('ann', { id: 'newer' })
  services.jar.set('token', newer)
  services.stored.set('wrongCodes', JSON.stringify({ session: 'newer', count: 3, since: SINCE }))
  act(() => void store.dispatch(action))
  leave()
  renderApp('/', { token: newer, stored: Object.fromEntries(services.stored) })
  expect(within(await findNotice()).getByRole('heading')).toHaveTextContent(/^3 wrong codes since/)
})

test('decisions §10: a replay shows the wrong-code notice', async () => {
  const { store } = await signedIn({ count: 12, since: SINCE })
  await findNotice()
  const about = { build: 'test', exportedAt: 0, viewport: { width: 1440, height: 900 }, route: '/' }
  const log = readLog(JSON.stringify(writeLog(recorderOf(store).recording(), about, replayReducer)))
  expect(replayLog(log, replayReducer)).toMatchObject({ deviations: [], final: [] })
  expect(log.final.account).toMatchObject({ wrongCodes: { count: 12, since: SINCE } })
})
