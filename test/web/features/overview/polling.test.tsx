import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { fakeClock, pass } from '../../../support/web/fakeClock'
import { badge, sectionOf } from '../../../support/web/overviewPage'
import { renderApp } from '../../../support/web/renderApp'
import { setVisibility } from '../../../support/web/visibility'

const lobby = deploymentOf('lobby')
const bot = deploymentOf('discord-bot')

afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('§9 the overview polls every 3 s', async () => {
  fakeClock()
  const { network } = renderApp('/', { signedInAs: 'ann' })
  const heartbeat = network.shows([
    { deployment: lobby, instances: [instanceOf('3fa2c1-lobby', { state: 'STARTING' })] },
  ])
  expect(await screen.findByText('Starting Up')).toBeVisible()
  const before = heartbeat.calls.length
  network.get('/api/deployments/lobby/instances').answers({ instances: [instanceOf('3fa2c1-lobby')] })
  await pass(2900)
  expect(heartbeat.calls).toHaveLength(before)
  await pass(200)
  expect(await screen.findByText('Online')).toBeVisible()
  expect(heartbeat.calls).toHaveLength(before + 1)
})

test('§2 polling pauses while the page is hidden and resumes at once when it becomes visible', async () => {
  fakeClock()
  const { network } = renderApp('/', { signedInAs: 'ann' })
  const heartbeat = network.shows([{ deployment: lobby }])
  await sectionOf('lobby')
  setVisibility('hidden')
  await pass(60_000)
  expect(heartbeat.calls).toHaveLength(1)
  setVisibility('visible')
  await waitFor(() => expect(heartbeat.calls).toHaveLength(2))
})

test('§2 polling continues when the window only loses focus', async () => {
  fakeClock()
  const { network } = renderApp('/', { signedInAs: 'ann' })
  const heartbeat = network.shows([{ deployment: lobby }])
  await sectionOf('lobby')
  act(() => void window.dispatchEvent(new Event('blur')))
  await pass(3100)
  await waitFor(() => expect(heartbeat.calls).toHaveLength(2))
})

test('§2 a failed poll shows the panel above the last data, with its age, and recovers on the next success', async () => {
  fakeClock()
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }])
  await screen.findByText('3fa2c1-lobby')
  network.get('/api/deployments').answers(503, { message: 'The database is not reachable' })
  await pass(3000)
  const panel = await screen.findByRole('alert')
  expect(within(panel).getByRole('heading', { name: 'Failed to Load Data' })).toBeVisible()
  expect(panel).toHaveTextContent('The database is not reachable')
  const card = screen.getByText('3fa2c1-lobby')
  expect(panel.compareDocumentPosition(card)).toBe(Node.DOCUMENT_POSITION_FOLLOWING)
  expect(screen.getByText(/1 deployment · 1 instance/)).toHaveTextContent('last known now')
  // Ages round to ten seconds, so this one reads two minutes whenever the test starts.
  await pass(130_000)
  expect(screen.getByText(/1 deployment · 1 instance/)).toHaveTextContent('last known 2 minutes ago')
  const failing = network.get('/api/deployments').answers(503, { message: 'The database is not reachable' })
  const retry = within(panel).getByRole('button', { name: 'Retry' })
  await waitFor(() => expect(retry).toHaveAttribute('aria-disabled', 'false'))
  fireEvent.click(retry)
  await waitFor(() => expect(failing.calls).toHaveLength(1))
  expect(badge()).toHaveTextContent('Failed')

  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }])
  await pass(3000)
  await waitFor(() => expect(badge()).toHaveTextContent('Live'))
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
})

test('a deployment whose instances fail to refresh keeps showing the last ones with the error', async () => {
  fakeClock()
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }, { deployment: bot }])
  await screen.findByText('3fa2c1-lobby')
  const failing = network
    .get('/api/deployments/lobby/instances')
    .answers(503, { message: 'The runtime did not answer' })
  await pass(3000)
  const section = await sectionOf('lobby')
  expect(await within(section).findByRole('alert')).toHaveTextContent(
    'The runtime did not answerShowing the last known state.',
  )
  expect(within(section).getByRole('link', { name: /3fa2c1-lobby/ })).toBeVisible()
  await pass(3100)
  await waitFor(() => expect(failing.calls.length).toBeGreaterThan(1))
  expect(within(section).getByRole('link', { name: /3fa2c1-lobby/ })).toBeVisible()

  network.get('/api/deployments/lobby/instances').answers({ instances: [] })
  await pass(3100)
  expect(await within(section).findByText('No instances currently running')).toBeVisible()
})

test('the badge reads Updating... only for slow responses', async () => {
  fakeClock()
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby }])
  await sectionOf('lobby')
  const { release } = network.get('/api/deployments').answersLater({ deployments: [lobby] })
  await pass(3050)
  expect(badge()).toHaveTextContent('Live')
  await pass(300)
  expect(badge()).toHaveTextContent('Updating...')
  release()
  await waitFor(() => expect(badge()).toHaveTextContent('Live'))
})
