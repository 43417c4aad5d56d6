import { readFileSync } from 'node:fs'
import { screen, waitFor } from '@testing-library/react'
import { deploymentOf, tokenOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

const cookies = jest.spyOn(document, 'cookie', 'get')
afterEach(() => {
  cookies.mockReturnValue('')
  window.firstResponses = undefined
})

/** Runs the script of the page's file, as the browser does before the console has started. */
function openFile(path: string, cookie: string) {
  cookies.mockReturnValue(cookie)
  window.history.replaceState(null, '', path)
  // jsdom does not run scripts here, but the function sees the globals of the page.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  new Function(readFileSync('public/firstResponses.js', 'utf8'))()
}

const overviewOf = (...names: string[]) => ({
  deployments: names.map((name) => ({ ...deploymentOf(name), instances: [] })),
  managerSilent: false,
})

test('a page shows the data that its file has requested, without another request', async () => {
  const token = tokenOf('ann')
  const { calls } = network.get('/api/deployments').answers(overviewOf('lobby'))
  openFile('/', `theme=dark; token=${token}; isAdmin=0`)
  await waitFor(() => expect(calls).toHaveLength(1))
  expect(calls[0]).toMatchObject({ query: '?instances=true', authorization: `Bearer ${token}` })
  // Later requests, such as polls, are not answered.
  network.get('/api/deployments').answersWith(() => new Promise(() => undefined))
  renderApp('/', { signedInAs: 'ann', token })
  await screen.findByText('lobby')
})

test('data that the file requested for another session is requested again', async () => {
  const { calls: early } = network.get('/api/deployments').answers(overviewOf('of-bob'))
  openFile('/', `token=${tokenOf('bob')}`)
  await waitFor(() => expect(early).toHaveLength(1))
  const { calls } = network.get('/api/deployments').answers(overviewOf('of-ann'))
  const token = tokenOf('ann')
  renderApp('/', { signedInAs: 'ann', token })
  await screen.findByText('of-ann')
  expect(screen.queryByText('of-bob')).toBeNull()
  expect(calls.map(({ authorization }) => authorization)).toContain(`Bearer ${token}`)
})

test('a failure of a first request is shown as that of any other', async () => {
  const token = tokenOf('ann')
  network.get('/api/deployments').answers(503, { message: 'The database is not reachable' })
  openFile('/', `token=${token}`)
  renderApp('/', { signedInAs: 'ann', token })
  await screen.findByText('Failed to Load Data')
  await screen.findByText(/The database is not reachable/)
})

test('without a session the file requests nothing', () => {
  const request = jest.spyOn(window, 'fetch')
  openFile('/', 'theme=dark')
  expect(request).not.toHaveBeenCalled()
  expect(window.firstResponses).toBeUndefined()
  request.mockRestore()
})

test.each([
  ['/deployments/lobby/edit', ['account', 'deployments/lobby']],
  ['/instance/lobby/5b0c', ['account', 'deployments/lobby/instances']],
  ['/files', ['account', 'sftp/files?path=%2Fnfsshare']],
  ['/files/lobby/a%20b/', ['account', 'sftp/files?path=%2Fnfsshare%2Flobby%2Fa%20b']],
  ['/files/%E0%A4%A', ['account']],
  ['/databases', ['account', 'database/sql', 'database/mongo']],
  ['/admin', ['account']],
])('the file of the page at %s requests %j', async (path, expected) => {
  const request = jest.spyOn(window, 'fetch').mockImplementation(async () => Response.json({ success: true, data: {} }))
  openFile(path, `token=${tokenOf('ann')}`)
  expect(request.mock.calls.map(([url]) => url)).toEqual(expected.map((call) => `/api/${call}`))
  expect(Object.keys(window.firstResponses ?? {})).toEqual(expected.map((call) => `GET${call}`))
  request.mockRestore()
})

test('data that the page has not taken five seconds after it was loaded is dropped', () => {
  jest.useFakeTimers()
  const request = jest.spyOn(window, 'fetch').mockImplementation(async () => Response.json({ success: true, data: {} }))
  openFile('/', `token=${tokenOf('ann')}`)
  window.dispatchEvent(new Event('load'))
  jest.advanceTimersByTime(4999)
  expect(window.firstResponses).toBeDefined()
  jest.advanceTimersByTime(1)
  expect(window.firstResponses).toBeUndefined()
  request.mockRestore()
  jest.useRealTimers()
})
