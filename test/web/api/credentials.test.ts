import Cookies from 'js-cookie'
import { forgetSession, keepSession, readSession } from '../../../src/web/api/credentials'
import { tokenOf } from '../../support/web/factories'
import { fakeServices } from '../../support/web/services'

const services = { ...fakeServices(), cookies: Cookies }

afterEach(() => forgetSession(services))

test('§3 token and isAdmin are kept in cookies, and read back as the session', () => {
  const expiresAt = Math.ceil(Date.now() / 1000) * 1000 + 60_000
  expect(keepSession(services, tokenOf('ann', { id: 'session-1', expiresAt }), 1)).toBe(true)
  expect(document.cookie).toContain('token=')
  expect(document.cookie).toContain('isAdmin=1')
  expect(readSession(services)).toEqual({ id: 'session-1', isAdmin: true, expiresAt })
  forgetSession(services)
  expect(document.cookie).toBe('')
})

test('security 58: the cookies last 7 days and are never sent across sites', () => {
  const set = jest.spyOn(Cookies, 'set')
  keepSession(services, tokenOf('ann'), 0)
  const options = { expires: 7, sameSite: 'strict', secure: false, path: '/' }
  expect(set).toHaveBeenCalledWith('token', expect.any(String), options)
  expect(set).toHaveBeenCalledWith('isAdmin', '0', options)
  set.mockRestore()
})

test.each([
  [1, true],
  [true, true],
  [0, false],
  [undefined, false],
  [2, false],
])('§3 isAdmin %p means administrator: %p', (isAdmin, means) => {
  keepSession(services, tokenOf('ann'), isAdmin)
  expect(readSession(services)?.isAdmin).toBe(means)
})

test.each([[undefined], [''], ['a.b.c'], [7], [tokenOf('ann', { expiresAt: Date.now() - 1000 })]])(
  '§4 %p is not kept as a session',
  (token) => {
    expect(keepSession(services, token, 1)).toBe(false)
    expect(document.cookie).toBe('')
  },
)
