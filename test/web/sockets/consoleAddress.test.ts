/** @jest-environment-options {"url": "https://console.example/instance/lobby/1"} */
import { openReconnecting } from '../../../src/web/sockets/reconnectingConsole'
import { fakeConsole } from '../../support/web/services'

test('§7 the console socket uses wss on the host of an https page', () => {
  const far = fakeConsole()
  const nothing = () => undefined
  const link = openReconnecting(
    { deployment: 'lobby', podName: 'lobby-1' },
    far.connect,
    { connecting: nothing, opened: nothing, closed: nothing, lines: nothing, state: nothing },
    () => 0,
  )
  expect(far.urls).toEqual(['wss://console.example/api/logs/lobby/lobby-1'])
  link.close()
})
