/** @jest-environment-options {"url": "https://console.example/instance/lobby/1"} */
import { openLink } from '../../../src/web/sockets/consoleLink'
import { fakeConsole } from '../../support/web/services'

test("§7 the console socket is wss on https, on the page's own host", () => {
  const far = fakeConsole()
  const nothing = () => undefined
  const link = openLink(
    { deployment: 'lobby', podName: 'lobby-1' },
    far.connect,
    { attempted: nothing, opened: nothing, closed: nothing, lines: nothing, state: nothing },
    () => 0,
  )
  expect(far.urls).toEqual(['wss://console.example/api/logs/lobby/lobby-1'])
  link.close()
})
