import { act, screen } from '@testing-library/react'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

beforeEach(() => void network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null }))

afterEach(() => jest.restoreAllMocks())

test('§4 the real-time connection opens after the page has loaded', async () => {
  jest.spyOn(document, 'readyState', 'get').mockReturnValue('interactive')
  const { realtime } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  expect(realtime.opened).toBe(0)
  act(() => void window.dispatchEvent(new Event('load')))
  expect(realtime.opened).toBe(1)
})

test('§4 the real-time connection closes on teardown', async () => {
  const { realtime, leave } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  expect(realtime.opened).toBe(1)
  leave()
  expect(realtime.closed).toBe(1)
})

test('§4 the real-time connection closes on pagehide and reopens when the page returns from the bfcache', async () => {
  const { realtime } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  act(() => void window.dispatchEvent(new Event('pagehide')))
  expect(realtime.closed).toBe(1)
  act(() => void window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })))
  expect(realtime.opened).toBe(2)
})

test('§2 a user who is not signed in has no real-time connection', async () => {
  const { realtime } = renderApp('/login')
  await screen.findByRole('heading', { name: 'Sign In' })
  expect(realtime.opened).toBe(0)
})

test('failed requests are refetched when the browser is back online, not when the window gains focus', async () => {
  network.get('/api/database/sql').isUnreachable()
  const mongo = network.get('/api/database/mongo').answers({ databases: [] })
  renderApp('/databases', { signedInAs: 'ann' })
  expect(await screen.findByText('Failed to load databases')).toBeVisible()
  act(() => void window.dispatchEvent(new Event('offline')))
  act(() => void window.dispatchEvent(new Event('focus')))
  expect(mongo.calls).toHaveLength(1)
  network.get('/api/database/sql').answers({ databases: [] })
  act(() => void window.dispatchEvent(new Event('online')))
  expect(await screen.findByText('No SQL databases yet')).toBeVisible()
  expect(screen.queryByText('Failed to load databases')).not.toBeInTheDocument()
})
