import { act, screen, waitFor, within } from '@testing-library/react'
import { api } from '../../../../src/web/api/api'
import { instanceOf } from '../../../support/web/factories'
import { lobby, manyOf } from '../../../support/web/overviewPage'
import { renderApp } from '../../../support/web/renderApp'

describe('the menu of a deployment', () => {
  const open = async (more: object = {}, account?: object) => {
    const app = renderApp('/', { signedInAs: 'ann' })
    if (account) app.network.get('/api/account').answers(account)
    app.network.shows([
      {
        deployment: { ...lobby, ...more },
        instances: [
          instanceOf('3fa2c1-lobby', { players: {}, playerCount: 20 }),
          instanceOf('77e0d4-lobby', { players: {}, playerCount: 4 }),
        ],
      },
    ])
    await app.user.click(await screen.findByRole('button', { name: 'Actions for lobby' }))
    return app
  }
  const item = (name: RegExp | string) => screen.findByRole('menuitem', { name })

  test('restarts after a question that names how many instances and players are affected', async () => {
    const { network, user } = await open()
    const { calls } = network.post('/api/deployments/lobby/restart').answers({})
    await user.click(await item('Restart deployment'))
    const dialog = await screen.findByRole('dialog')
    expect(dialog).toHaveTextContent('Restart 2 instances of lobby? 24 players are online; they are disconnected.')
    expect(calls).toHaveLength(0)
    await user.click(within(dialog).getByRole('button', { name: 'Restart' }))
    expect(await screen.findByText('Successfully restarted lobby')).toBeVisible()
    expect(calls).toHaveLength(1)
  })

  test('opens the consoles of its instances side by side', async () => {
    const { user } = await open()
    await user.click(await item('Open consoles side by side'))
    expect(window.location.pathname).toBe('/consoles')
    expect(window.location.search).toBe('?instances=uid-3fa2c1-lobby&instances=uid-77e0d4-lobby')
  })

  test('does nothing if the question is answered with Cancel', async () => {
    const { network, user } = await open()
    const { calls } = network.post('/api/deployments/lobby/toggle').answers({})
    await user.click(await item('Disable'))
    const dialog = await screen.findByRole('dialog')
    expect(dialog).toHaveTextContent(
      'Disable lobby? Its 2 instances are stopped. 24 players are online; they are disconnected.',
    )
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(calls).toHaveLength(0)
  })

  test('disables after the question, and reports a failure', async () => {
    const { network, user } = await open()
    const { calls } = network.post('/api/deployments/lobby/toggle').answers(503, { message: 'No' })
    await user.click(await item('Disable'))
    await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Disable' }))
    expect(await screen.findByText('Failed to toggle lobby')).toBeVisible()
    expect(calls.map(({ body }) => body)).toEqual([{ enabled: false }])
  })

  test('enables at once, and says why a disabled deployment cannot be restarted', async () => {
    const { network, user } = await open({ enabled: false })
    const { calls } = network.post('/api/deployments/lobby/toggle').answers({})
    expect(await item(/^Restart deployment/)).toHaveTextContent('Only an active deployment can be restarted')
    await user.click(await item('Enable'))
    expect(await screen.findByText('Successfully enabled lobby')).toBeVisible()
    expect(calls.map(({ body }) => body)).toEqual([{ enabled: true }])
  })

  test.each([
    ['Open files', '/files/lobby'],
    ['Edit configuration', '/deployments/lobby/edit'],
    ['Go to deployments', '/deployments'],
  ])('%s goes to %s', async (name, path) => {
    const { network, user } = await open()
    network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
    network.get('/api/deployments/lobby').answers({ content: 'name: lobby' })
    await user.click(await item(name))
    expect(window.location.pathname).toBe(path)
  })

  test('says which right the user lacks', async () => {
    const { network, user } = await open({}, { role: 'limited', grants: [{ deployment: 'lobby', rights: ['view'] }] })
    const { calls } = network.post('/api/deployments/lobby/restart').answers({})
    const restart = await item('Restart deployment')
    await waitFor(() => expect(restart).toHaveAttribute('aria-disabled', 'true'))
    expect(restart).toHaveAccessibleDescription('You do not have the right “power” on this deployment')
    await user.click(restart)
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(calls).toHaveLength(0)
    expect(await item('Open files')).toHaveAccessibleDescription(/right “files”/)
    expect(await item('Open files')).toHaveAttribute('aria-disabled', 'true')
  })
})

describe('selecting instances', () => {
  const five = manyOf(5)
  const select = async (instances = five) => {
    const app = renderApp('/', { signedInAs: 'ann' })
    app.network.shows([{ deployment: lobby, instances }])
    await app.user.click(await screen.findByRole('button', { name: 'Select' }))
    return app
  }
  const box = (at: number) => screen.getByRole('checkbox', { name: `Select ${five[at]?.name}` })

  test('the consoles of the selected instances are opened in the order of the selection', async () => {
    const { user, store } = await select()
    const button = screen.getByRole('button', { name: 'Open consoles side by side' })
    expect(button).toHaveAttribute('aria-disabled', 'true')
    expect(button).toHaveAttribute('title', 'Select at least two instances')
    for (const at of [3, 0]) await user.click(box(at))
    expect(screen.getByText('2 of at most 4 selected')).toBeVisible()
    await user.click(screen.getByRole('link', { name: 'Open consoles side by side' }))
    expect(window.location.search).toBe(`?instances=${five[3]?.uid}&instances=${five[0]?.uid}`)
    expect(store.getState().overview?.selected).toBeNull()
  })

  test('a fifth instance cannot be selected, and its checkbox says why', async () => {
    const { user } = await select()
    for (const at of [0, 1, 2, 3, 4]) await user.click(box(at))
    expect(box(4)).not.toBeChecked()
    expect(box(4)).toHaveAttribute('aria-disabled', 'true')
    expect(box(4).closest('label')).toHaveAttribute('title', '4 instances are selected already')
    await user.click(box(0))
    await user.click(box(4))
    expect(box(4)).toBeChecked()
  })

  test('a selected instance that is gone takes no place', async () => {
    const { user, network, store } = await select()
    for (const at of [0, 1, 2, 3]) await user.click(box(at))
    network.shows([{ deployment: lobby, instances: five.slice(1) }])
    act(() => void store.dispatch(api.util.invalidateTags(['Instance'])))
    expect(await screen.findByText('3 of at most 4 selected')).toBeVisible()
    await user.click(box(4))
    expect(box(4)).toBeChecked()
  })

  test('ending the selection removes the checkboxes', async () => {
    const { user } = await select()
    await user.click(box(0))
    await user.click(screen.getByRole('button', { name: 'Cancel' }))
    expect(screen.queryByRole('checkbox')).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Select' }))
    expect(box(0)).not.toBeChecked()
  })
})
