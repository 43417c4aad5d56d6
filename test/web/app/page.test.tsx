import { act, screen } from '@testing-library/react'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

beforeEach(() => void network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null }))

afterEach(() => jest.restoreAllMocks())

test('§4 the real-time connection waits until the page has loaded', async () => {
  jest.spyOn(document, 'readyState', 'get').mockReturnValue('interactive')
  const { realtime } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  expect(realtime.opened).toBe(0)
  act(() => void window.dispatchEvent(new Event('load')))
  expect(realtime.opened).toBe(1)
})

test('§4 the real-time connection is disconnected on teardown', async () => {
  const { realtime, leave } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  expect(realtime.opened).toBe(1)
  leave()
  expect(realtime.closed).toBe(1)
})

test('§4 a page that leaves is disconnected, and connected again when the browser brings it back from its cache', async () => {
  const { realtime } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
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

test('what failed while the browser was offline is fetched again once it is online; the focus of the window fetches nothing', async () => {
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
