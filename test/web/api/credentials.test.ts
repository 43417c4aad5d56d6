import Cookies from 'js-cookie'
import { forgetSession, keepAdmin, keepSession, readSession } from '../../../src/web/api/signIn/credentials'
import { tokenOf } from '../../support/web/factories'
import { fakeServices } from '../../support/web/services'

const services = { ...fakeServices(), cookies: Cookies }

afterEach(() => {
  jest.restoreAllMocks()
  forgetSession(services)
})

/** In whole seconds, as in a token. */
const inOneMinute = () => Math.ceil(Date.now() / 1000) * 1000 + 60_000

test('§3 the session is read back from the token and isAdmin cookies', () => {
  const expiresAt = inOneMinute()
  expect(keepSession(services, tokenOf('ann', { id: 'session-1', expiresAt }), 1)).toBe(true)
  expect(document.cookie).toContain('token=')
  expect(document.cookie).toContain('isAdmin=1')
  expect(readSession(services)).toEqual({ id: 'session-1', subject: 'ann', isAdmin: true, expiresAt })
  forgetSession(services)
  expect(document.cookie).toBe('')
})

test('§3 a role reported by a later response is stored until the session expires', () => {
  const set = jest.spyOn(Cookies, 'set')
  const expiresAt = inOneMinute()
  keepSession(services, tokenOf('ann', { id: 'session-1', expiresAt }), 0)
  keepAdmin(services, true, expiresAt)
  expect(set).toHaveBeenLastCalledWith('isAdmin', '1', {
    expires: new Date(expiresAt),
    sameSite: 'strict',
    secure: false,
    path: '/',
  })
  expect(readSession(services)).toEqual({ id: 'session-1', subject: 'ann', isAdmin: true, expiresAt })
})

test('the username in a token may contain any Unicode characters', () => {
  keepSession(services, tokenOf('Zoë 🚢'), 0)
  expect(readSession(services)?.subject).toBe('Zoë 🚢')
})

test('security 58: the cookies expire after 7 days and use SameSite=Strict', () => {
  const set = jest.spyOn(Cookies, 'set')
  keepSession(services, tokenOf('ann'), 0)
  const options = { expires: 7, sameSite: 'strict', secure: false, path: '/' }
  expect(set).toHaveBeenCalledWith('token', expect.any(String), options)
  expect(set).toHaveBeenCalledWith('isAdmin', '0', options)
})

test.each([
  [1, true],
  [true, true],
  [0, false],
  [undefined, false],
  [2, false],
])('§3 an isAdmin value of %p means administrator: %p', (isAdmin, means) => {
  keepSession(services, tokenOf('ann'), isAdmin)
  expect(readSession(services)?.isAdmin).toBe(means)
})

test.each([
  [undefined],
  [''],
  ['a.b.c'],
  [7],
  [`a.${btoa('null')}.c`],
  [`a.${btoa('{"exp":"soon"}')}.c`],
  [tokenOf('ann', { expiresAt: Date.now() - 1000 })],
])('§4 the token %p is rejected and not stored', (token) => {
  expect(keepSession(services, token, 1)).toBe(false)
  expect(document.cookie).toBe('')
})
