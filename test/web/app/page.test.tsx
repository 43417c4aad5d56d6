import { act, screen } from '@testing-library/react'
import { renderApp } from '../../support/web/renderApp'

afterEach(() => jest.restoreAllMocks())

test('§4 the real-time connection waits until the page has loaded', async () => {
  jest.spyOn(document, 'readyState', 'get').mockReturnValue('interactive')
  const { realtime } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { name: 'Not part of this build yet' })
  expect(realtime.opened).toBe(0)
  act(() => void window.dispatchEvent(new Event('load')))
  expect(realtime.opened).toBe(1)
})

test('§4 the real-time connection is disconnected on teardown', async () => {
  const { realtime, leave } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { name: 'Not part of this build yet' })
  expect(realtime.opened).toBe(1)
  leave()
  expect(realtime.closed).toBe(1)
})

test('§4 a page that leaves is disconnected, and connected again when the browser brings it back from its cache', async () => {
  const { realtime } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { name: 'Not part of this build yet' })
  act(() => void window.dispatchEvent(new Event('pagehide')))
  expect(realtime.closed).toBe(1)
  act(() => void window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })))
  expect(realtime.opened).toBe(2)
})

test('§2 who is not signed in has no real-time connection', async () => {
  const { realtime } = renderApp('/login')
  await screen.findByRole('heading', { name: 'Sign In' })
  expect(realtime.opened).toBe(0)
})
