/** @jest-environment-options {"url": "https://console.example/"} */
import Cookies from 'js-cookie'
import { forgetSession, keepSession } from '../../../src/web/api/signIn/credentials'
import { tokenOf } from '../../support/web/factories'
import { fakeServices } from '../../support/web/services'

test('security 58: the cookies have the Secure attribute on https', () => {
  const services = { ...fakeServices(), cookies: Cookies }
  const set = jest.spyOn(Cookies, 'set')
  keepSession(services, tokenOf('ann'), 1)
  expect(set.mock.calls.map(([name, , options]) => [name, options?.secure, options?.sameSite])).toEqual([
    ['token', true, 'strict'],
    ['isAdmin', true, 'strict'],
  ])
  set.mockRestore()
  forgetSession(services)
})
