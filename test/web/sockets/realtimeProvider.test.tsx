import { act, render, screen, waitFor } from '@testing-library/react'
import { useRealtime } from '../../../src/web/sockets/RealtimeProvider'
import { deploymentOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

afterEach(() => {
  jest.useRealTimers()
})

beforeEach(() => void network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null }))

function Probe() {
  useRealtime()
  return null
}

test('§8 using the socket facility outside its provider raises an error', () => {
  const error = jest.spyOn(console, 'error').mockImplementation(() => {})
  expect(() => render(<Probe />)).toThrow('useRealtime must be used inside a RealtimeProvider')
  error.mockRestore()
})

test('§4 the header tells whether the real-time connection stands', async () => {
  const { realtime } = renderApp('/files', { signedInAs: 'ann' })
  expect(await screen.findByRole('img', { name: 'Real-time connection: disconnected' })).toBeVisible()
  act(() => void realtime.listener?.connected())
  expect(await screen.findByRole('img', { name: 'Real-time connection: connected' })).toBeVisible()
})

test('what may have been missed is fetched again when the connection returns, and not when it first stands', async () => {
  // No poll comes by itself.
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick', 'performance'] })
  const { network, realtime, store } = renderApp('/', { signedInAs: 'ann' })
  const heartbeat = network.shows([{ deployment: deploymentOf('lobby') }])
  await screen.findByRole('heading', { name: /^lobby/ })
  act(() => void realtime.listener?.connected())
  act(() => void realtime.listener?.disconnected())
  await act(async () => {})
  expect(Object.values(store.getState().api.queries).map((query) => query?.status)).toEqual(['fulfilled'])
  expect(heartbeat.calls).toHaveLength(1)
  act(() => void realtime.listener?.connected())
  await waitFor(() => expect(heartbeat.calls).toHaveLength(2))
})
