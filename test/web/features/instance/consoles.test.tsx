import { act, screen, waitFor, within } from '@testing-library/react'
import { sessionEnded } from '../../../../src/web/facts'
import { api } from '../../../../src/web/api/api'
import { networkApi } from '../../../../src/web/api/network'
import type { Instance } from '../../../../src/contract/instance'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'

const lobby = instanceOf('3fa2c1-lobby')
const hub = instanceOf('77e0d4-lobby')
const survival = instanceOf('aa11bb-survival', { plainCommands: ['claim'] })
const creative = instanceOf('cc22dd-creative', { state: 'STOPPED' })
const skyblock = instanceOf('ee33ff-skyblock')
const all = [lobby, hub, survival, creative, skyblock]

const addressOf = (instances: Instance[]) => `/consoles?${instances.map(({ uid }) => `instances=${uid}`).join('&')}`
const sectionsOf = (instances: Instance[]) =>
  [...new Set(instances.map(({ deployment }) => deployment))].map((name) => ({
    deployment: deploymentOf(name),
    instances: instances.filter(({ deployment }) => deployment === name),
  }))

/** Opens the page, with a connection for each of its consoles. */
async function shown(instances: Instance[], { path = addressOf(instances), known = all, stored = {} } = {}) {
  const app = renderApp(path, { signedInAs: 'ann', stored })
  app.network.shows(sectionsOf(known))
  await screen.findByRole('heading', { name: 'Consoles' })
  const channelOf = ({ podName }: Instance) => {
    const found = app.console.connections.find(({ url }) => url.endsWith(`/${podName}`))
    if (!found) throw new Error(`No connection to ${podName}`)
    return found
  }
  await waitFor(() => instances.forEach(channelOf))
  const connect = (instance: Instance) => act(() => channelOf(instance).listener.opened())
  const print = (instance: Instance, content: string) =>
    act(() => channelOf(instance).listener.received(JSON.stringify({ type: 'message', content })))
  instances.forEach(connect)
  return { ...app, channelOf, print }
}

const field = () => screen.getByRole('textbox', { name: 'Command' })
const paneOf = ({ name }: Instance) => screen.getByRole('region', { name: `Console of ${name}` })
const rowsOf = (instance: Instance) =>
  [...within(paneOf(instance)).getByRole('log').querySelectorAll('[data-line]')].map((row) => row.textContent)
const targetOf = ({ name }: Instance) => screen.getByRole('switch', { name })
const commands = (...texts: string[]) => texts.map((command) => ({ type: 'command', command }))

test('the consoles of the address are shown side by side, each with its own lines', async () => {
  const { print } = await shown([lobby, survival])
  print(lobby, 'from the lobby')
  print(survival, 'from survival')
  await waitFor(() => expect(rowsOf(lobby)).toEqual(['from the lobby']))
  await waitFor(() => expect(rowsOf(survival)).toEqual(['from survival']))
  expect(within(paneOf(lobby)).getByRole('link', { name: lobby.name })).toHaveAttribute(
    'href',
    `/instance/lobby/${lobby.uid}`,
  )
  expect(within(paneOf(lobby)).getByText('Online')).toBeVisible()
})

test('a response in flight does not overwrite newer states that power messages of two consoles reported', async () => {
  const { channelOf, store } = await shown([lobby, survival])
  const outdated = network.get('/api/deployments/lobby/instances').answersLater({ instances: [lobby, hub] })
  act(() => void store.dispatch(api.util.invalidateTags(['Instance'])))
  await waitFor(() => expect(outdated.calls).toHaveLength(1))
  for (const instance of [lobby, survival])
    act(() => channelOf(instance).listener.received(JSON.stringify({ type: 'power', content: 'STOPPING' })))
  const answered = store.dispatch(networkApi.util.getRunningQueryThunk('getOverview', undefined))
  outdated.release()
  await act(async () => expect(await answered).toMatchObject({ status: 'fulfilled' }))
  for (const instance of [lobby, survival])
    await waitFor(() => expect(within(paneOf(instance)).getByText('Shutting Down')).toBeVisible())
})

test('a command is sent to all consoles and echoed in each', async () => {
  const { user, channelOf } = await shown([lobby, survival])
  expect(screen.getByText('Sends to both consoles')).toBeVisible()
  await user.type(field(), 'list{Enter}')
  expect(field()).toHaveValue('')
  for (const instance of [lobby, survival]) {
    expect(channelOf(instance).sent).toEqual(commands('list'))
    await waitFor(() => expect(rowsOf(instance)).toEqual(['> list']))
  }
})

test('a command goes to the chosen consoles only', async () => {
  const { user, channelOf } = await shown([lobby, survival, skyblock])
  await user.click(targetOf(survival))
  expect(targetOf(survival)).not.toBeChecked()
  expect(screen.getByText('Sends to 2 of 3 consoles')).toBeVisible()
  await user.type(field(), 'list{Enter}')
  expect([lobby, survival, skyblock].map((instance) => channelOf(instance).sent.length)).toEqual([1, 0, 1])
  expect(rowsOf(survival)).toEqual([])
})

test('Alt and a number switches a target, with Shift it becomes the only one, and Alt+0 chooses all', async () => {
  const { user, channelOf } = await shown([lobby, survival, skyblock])
  const checked = () => [lobby, survival, skyblock].map((instance) => targetOf(instance).getAttribute('aria-checked'))
  await user.click(field())
  await user.keyboard('{Alt>}[Digit2]{/Alt}')
  expect(checked()).toEqual(['true', 'false', 'true'])
  await user.keyboard('{Alt>}{Shift>}[Digit3]{/Shift}{/Alt}')
  expect(checked()).toEqual(['false', 'false', 'true'])
  expect(screen.getByText(`Sends to ${skyblock.name}`)).toBeVisible()
  await user.type(field(), 'list{Enter}')
  expect([lobby, survival, skyblock].map((instance) => channelOf(instance).sent.length)).toEqual([0, 0, 1])
  // On Windows, Alt and the number pad type a character.
  await user.keyboard('{Alt>}[Numpad0]{/Alt}')
  expect(checked()).toEqual(['false', 'false', 'true'])
  await user.keyboard('{Alt>}[Digit0]{/Alt}')
  expect(checked()).toEqual(['true', 'true', 'true'])
  expect(field()).toHaveValue('')
})

test('without a target nothing can be sent, and the command line shows why', async () => {
  const { user, channelOf } = await shown([lobby, survival])
  await user.type(field(), 'list')
  await user.click(targetOf(lobby))
  await user.click(targetOf(survival))
  expect(screen.getByText('Choose a console to send to')).toBeVisible()
  expect(field()).toHaveAttribute('readonly')
  expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled()
  await user.type(field(), '{Enter}')
  for (const instance of [lobby, survival]) expect(channelOf(instance).sent).toEqual([])
})

test('a console that is not connected says that it did not get the command; the others get it', async () => {
  const { user, channelOf } = await shown([lobby, survival])
  jest.spyOn(globalThis.console, 'warn').mockImplementation(() => {})
  act(() => channelOf(survival).listener.closed(1006))
  await user.type(field(), 'list{Enter}')
  expect(channelOf(lobby).sent).toEqual(commands('list'))
  await waitFor(() =>
    expect(rowsOf(survival)).toEqual(
      expect.arrayContaining(['[System] The command was not sent: this console is not connected.']),
    ),
  )
  expect(rowsOf(survival)).not.toContain('> list')
  expect(rowsOf(lobby)).toEqual(['> list'])
})

test('closing a console ends its connection, keeps the others and changes the address', async () => {
  const { user, console, channelOf, print } = await shown([lobby, survival, skyblock])
  print(skyblock, 'kept')
  await waitFor(() => expect(rowsOf(skyblock)).toEqual(['kept']))
  const kept = channelOf(skyblock)
  await user.click(screen.getByRole('button', { name: `Close the console of ${survival.name}` }))
  expect(screen.queryByRole('region', { name: `Console of ${survival.name}` })).toBeNull()
  expect(window.location.search).toBe(`?instances=${lobby.uid}&instances=${skyblock.uid}`)
  expect(console.connections.some(({ url }) => url.includes(survival.podName))).toBe(false)
  expect(channelOf(skyblock)).toBe(kept)
  expect(rowsOf(skyblock)).toEqual(['kept'])
  expect(field()).toHaveFocus()
})

test('consoles are added in a dialog, at most four', async () => {
  const { user, store } = await shown([lobby, survival, skyblock])
  await user.click(screen.getByRole('button', { name: 'Choose Consoles' }))
  const dialog = await screen.findByRole('dialog', { name: 'Choose Consoles' })
  await user.type(within(dialog).getByRole('searchbox'), 'creat')
  expect(within(dialog).getAllByRole('checkbox')).toHaveLength(1)
  await user.click(within(dialog).getByRole('checkbox', { name: creative.name }))
  expect(store.getState().consoles?.panes.map(({ uid }) => uid)).toEqual(
    [lobby, survival, skyblock, creative].map(({ uid }) => uid),
  )
  await user.clear(within(dialog).getByRole('searchbox'))
  const fifth = within(dialog).getByRole('checkbox', { name: hub.name })
  expect(fifth).toHaveAttribute('aria-disabled', 'true')
  expect(fifth.closest('label')).toHaveAttribute('title', '4 consoles are shown already')
  await user.click(fifth)
  expect(store.getState().consoles?.panes).toHaveLength(4)
})

test('two consoles that are chosen before the page is drawn again are both shown', async () => {
  const { user, store } = await shown([])
  await user.click(screen.getByRole('button', { name: 'Choose Consoles' }))
  const boxes = [lobby, survival].map(({ name }) => screen.getByRole('checkbox', { name }))
  act(() => boxes.forEach((box) => box.click()))
  await waitFor(() =>
    expect(store.getState().consoles?.panes.map(({ uid }) => uid)).toEqual([lobby, survival].map(({ uid }) => uid)),
  )
  for (const box of boxes) expect(box).toBeChecked()
})

test('an added console gets commands if all others do, but not if only some were chosen', async () => {
  const { user, store } = await shown([lobby, survival])
  const add = async (instance: Instance) => {
    await user.click(screen.getByRole('button', { name: 'Choose Consoles' }))
    await user.click(await screen.findByRole('checkbox', { name: instance.name }))
    await user.click(screen.getByRole('button', { name: 'Done' }))
  }
  await add(skyblock)
  await user.click(targetOf(lobby))
  await add(creative)
  expect(store.getState().consoles?.panes.map(({ isTarget }) => isTarget)).toEqual([false, true, true, false])
})

test('an instance that does not exist any more is named as such, and gets no command', async () => {
  const gone = instanceOf('000000-gone')
  const { user, console, channelOf } = await shown([lobby], { path: addressOf([lobby, gone]) })
  expect(await screen.findByText(/^This instance does not exist any more/)).toBeVisible()
  expect(screen.getByText(`Sends to ${lobby.name}`)).toBeVisible()
  await user.type(field(), 'list{Enter}')
  expect(channelOf(lobby).sent).toEqual(commands('list'))
  expect(console.connections.map(({ url }) => url.split('/').at(-1))).toEqual([lobby.podName])
})

test('a limited user opens no console without the right to it', async () => {
  network.get('/api/account').answers({
    role: 'limited',
    grants: [
      { deployment: 'lobby', rights: ['view'] },
      { deployment: 'survival', rights: ['view', 'console'] },
    ],
  })
  const { console } = await shown([survival], { path: addressOf([lobby, survival]) })
  expect(await screen.findByText(/^You do not have the right “console”/)).toBeVisible()
  await waitFor(() =>
    expect(console.connections.map(({ url }) => url)).toEqual([expect.stringMatching(survival.podName)]),
  )
})

test('each console scrolls for itself', async () => {
  const { store, user } = await shown([lobby, survival])
  await user.click(within(paneOf(lobby)).getByRole('button', { name: 'Pause' }))
  expect(within(paneOf(lobby)).getByRole('button', { name: /^Paused – resume/ })).toBeVisible()
  expect(within(paneOf(survival)).queryByRole('button', { name: /^(Paused|Jump)/ })).toBeNull()
  expect(store.getState().instance?.isPaused ?? false).toBe(false)
  await user.click(within(paneOf(lobby)).getByRole('button', { name: /^Paused – resume/ }))
  expect(field()).toHaveFocus()
})

test('the command history is that of the chosen consoles', async () => {
  const ann = JSON.stringify(['ann', null])
  const history = JSON.stringify([
    [lobby.podName, ['one', 'both'], ann],
    [survival.podName, ['two', 'both'], ann],
  ])
  const { user } = await shown([lobby, survival], { stored: { 'console-history': history } })
  await user.click(field())
  const walked: string[] = []
  for (let count = 0; count < 3; count++) {
    await user.keyboard('{ArrowUp}')
    walked.push((field() as HTMLInputElement).value)
  }
  expect(walked).toEqual(['both', 'two', 'one'])
  await user.keyboard('{Alt>}[Digit2]{/Alt}{ArrowDown}{ArrowDown}{ArrowDown}{ArrowUp}{ArrowUp}')
  expect(field()).toHaveValue('one')
})

test('a command that is sent is remembered for each console that got it', async () => {
  const { user, services } = await shown([lobby, survival, skyblock])
  await user.click(targetOf(skyblock))
  await user.type(field(), 'list{Enter}')
  const stored = JSON.parse(services.stored.get('console-history') ?? '[]') as [string, string[], string][]
  expect(Object.fromEntries(stored.map(([pod, commands]) => [pod, commands]))).toEqual({
    [lobby.podName]: ['list'],
    [survival.podName]: ['list'],
  })
})

test('leaving the page or the session ends all connections and forgets their lines', async () => {
  const { user, store, console, print } = await shown([lobby, survival])
  print(lobby, 'secret')
  await waitFor(() => expect(rowsOf(lobby)).toEqual(['secret']))
  await user.click(within(screen.getByRole('banner')).getByRole('link', { name: 'Overview' }))
  await screen.findByRole('heading', { name: 'Network Overview' })
  await waitFor(() => expect(console.connections).toHaveLength(0))
  expect(store.getState().consolePanes).toEqual({})
  expect(store.getState().instancePanes).toEqual({})
  expect(store.getState().consoles?.panes).toEqual([])
})

test('the end of the session closes all connections', async () => {
  const { store, console } = await shown([lobby, survival])
  act(() => void store.dispatch(sessionEnded('signedOut')))
  expect(console.connections).toHaveLength(0)
  expect(store.getState().consolePanes).toEqual({})
})

test('without instances in the URL the page offers to choose some', async () => {
  const { user } = await shown([], { path: '/consoles' })
  expect(screen.getByText('Choose up to four instances to see their consoles side by side')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Choose Consoles' }))
  await user.click(await screen.findByRole('checkbox', { name: lobby.name }))
  expect(window.location.search).toBe(`?instances=${lobby.uid}`)
})
