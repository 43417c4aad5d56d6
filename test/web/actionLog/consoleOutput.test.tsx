import { act, screen, waitFor, within } from '@testing-library/react'
import type { ActionLog } from '../../../src/contract/actionLog'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { readLog } from '../../../src/web/actionLog/replay/readLog'
import { recorderOf } from '../../../src/web/actionLog/record/record'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import type { AppStore } from '../../../src/web/app/store'
import { draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { sectionToggled } from '../../../src/web/features/overview/overviewSlice'
import { commandSubmitted, linesReceived } from '../../../src/web/sockets/consoleSlice'
import { searched } from '../../../src/web/features/instance/instanceSlice'
import { lengthOf, type LineBuffer } from '../../../src/web/sockets/lineBuffer'
import { databaseOf, instanceOf, tokenOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'
import { savedLogs } from '../../support/web/savedLogs'

const world = instanceOf('3fa2c1-world', { plainCommands: ['claim'], crashedAt: 1_760_000_000_000 })

async function opened() {
  const saved = savedLogs()
  network.get('/api/deployments/world/instances').answers({ instances: [world] })
  const app = renderApp(`/instance/world/${world.uid}`, { signedInAs: 'ann' })
  await waitFor(() => expect(app.console.listener).toBeDefined())
  act(() => app.console.listener?.opened())
  return { ...app, ...tools(app, saved) }
}

function tools(
  { user, store }: { user: ReturnType<typeof renderApp>['user']; store: AppStore },
  saved: ReturnType<typeof savedLogs>,
) {
  return {
    print: (...contents: string[]) =>
      act(() => void store.dispatch(linesReceived(contents.map((content) => ({ type: 'message', content }))))),
    send: (command: string) => user.type(screen.getByRole('textbox', { name: 'Command' }), `${command}{Enter}`),
    /** Exports through the user menu, and checks that the log replays to the same state. */
    async exported(
      item: 'Export action log' | 'Export with console output',
    ): Promise<{ log: ActionLog; text: string }> {
      const before = saved.length
      await user.click(screen.getByRole('button', { name: 'Your account' }))
      await user.click(screen.getByRole('menuitem', { name: 'Export action log' }))
      if (item === 'Export with console output')
        await user.click(await screen.findByRole('checkbox', { name: 'With console output' }))
      await user.click(await screen.findByRole('button', { name: 'Save' }))
      await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
      await waitFor(() => expect(saved).toHaveLength(before + 1))
      const text = JSON.stringify(saved.at(-1)!.log)
      const log = readLog(text)
      expect(replayLog(log, replayReducer)).toMatchObject({ deviations: [], final: [] })
      return { log, text }
    },
  }
}

const blocksOf = (state: ActionLog['final']) => (state.console as { buffer: LineBuffer }).buffer

test('decisions §10: an export omits console output and replays with the same number of lines', async () => {
  const { print, exported } = await opened()
  print('ann joined the game', 'bob left')
  const { log, text } = await exported('Export action log')
  expect(text).not.toMatch(/joined the game|bob left/)
  expect(blocksOf(log.final).next).toBe(2)
  expect(
    blocksOf(log.final)
      .blocks.flat()
      .map(({ content }) => content),
  ).toEqual(['…', '…'])
})

test('decisions §10: an export masks commands in the console like commands in other places', async () => {
  const { print, send, exported } = await opened()
  await send('someplugin swordfish-77')
  print('done')
  const { log, text } = await exported('Export action log')
  expect(text).not.toContain('swordfish-77')
  expect(
    blocksOf(log.final)
      .blocks.flat()
      .map(({ content }) => content),
  ).toEqual(['> someplugin ••• (23 characters)', '…'])
})

test('decisions §10: an export includes console output on request', async () => {
  const { print, exported } = await opened()
  print('ann joined the game', 'bob left')
  expect(
    blocksOf((await exported('Export with console output')).log.final)
      .blocks.flat()
      .map(({ content }) => content),
  ).toEqual(['ann joined the game', 'bob left'])
})

test('decisions §10: output in the base state is omitted or masked, like output in actions', async () => {
  const { print, send, store, exported } = await opened()
  print('the old line says hunter22')
  await send('someplugin hunter22')
  for (let count = 0; count < 2100; count++) recorderOf(store).note(Date.now(), sectionToggled('world'))
  const without = await exported('Export action log')
  expect(without.text).not.toContain('the old line')
  const { log, text } = await exported('Export with console output')
  expect(blocksOf(log.base).blocks.flat()[0]).toMatchObject({ content: 'the old line says •••' })
  expect(blocksOf(log.base).length).toBe(lengthOf(blocksOf(log.base).blocks.flat()))
  expect(text).not.toContain('hunter22')
})

test('decisions §10: a secret is masked in output that was printed before or after the secret was typed', async () => {
  const { print, send, exported, store } = await opened()
  print('early: Zebra-7731', 'early draft: draft-secret-1')
  await send('someplugin Zebra-7731')
  await send('claim area-51x')
  for (const text of ['name: world\nenv: { KEY: draft-s', 'name: world\nenv: { KEY: draft-secret-1'])
    act(() => void store.dispatch(draftTyped({ name: 'world', text })))
  print('password: from-a-line', 'late: Zebra-7731 and from-a-line', 'draft', 'area-51x stays')
  const { text, log } = await exported('Export with console output')
  expect(text).not.toMatch(/Zebra-7731|draft-secret-1|from-a-line/)
  const lines = blocksOf(log.final)
    .blocks.flat()
    .map(({ content }) => content)
  expect(lines).toEqual([
    'early: •••',
    'early draft: •••',
    '> someplugin ••• (21 characters)',
    '> claim area-51x',
    'password •••',
    'late: ••• and •••',
    'draft',
    'area-51x stays',
  ])
  expect(log.final.instance).toMatchObject({ commands: ['someplugin ••• (21 characters)', 'claim area-51x'] })
})

test('decisions §10: a password and a code typed at sign-in are masked in the output', async () => {
  const saved = savedLogs()
  network.post('/api/auth/login').answers({ sessionToken: 'step-1' })
  network.post('/api/auth/verify-login').answers({ token: tokenOf('ann'), isAdmin: 0 })
  network.get('/api/deployments/world/instances').answers({ instances: [world] })
  const app = renderApp(`/instance/world/${world.uid}`)
  const { user } = app
  // Type the secret into the wrong field first.
  await user.type(await screen.findByLabelText('Username'), 'wrong-field-9')
  await user.clear(screen.getByLabelText('Username'))
  await user.type(screen.getByLabelText('Username'), 'ann')
  await user.type(screen.getByLabelText('Password'), 'correct horse')
  await user.click(screen.getByRole('button', { name: 'Sign In' }))
  await user.type(await screen.findByLabelText('Verification code'), '739156')
  await user.click(screen.getByRole('button', { name: 'Verify Code' }))
  await waitFor(() => expect(app.console.listener).toBeDefined())
  const { print, exported } = tools(app, saved)
  print('it is correct horse', 'code 739156', 'typed wrong-field-9', 'what is wrong')
  const { log } = await exported('Export with console output')
  expect(
    blocksOf(log.final)
      .blocks.flat()
      .map(({ content }) => content),
  ).toEqual(['it is •••', 'code •••', 'typed •••', 'what is wrong'])
})

test('decisions §10: database credentials are masked in the output', async () => {
  const { print, exported, user } = await opened()
  print('connecting with password-of-shop')
  network.get('/api/database/sql').answers({ databases: [databaseOf('shop')] })
  network.get('/api/database/mongo').answers({ databases: [] })
  await user.click(screen.getByRole('link', { name: 'Databases' }))
  await screen.findByRole('article', { name: 'shop' })
  const { text } = await exported('Export with console output')
  expect(text).not.toContain('password-of-shop')
})

test('decisions §10: the lines of a crash capsule are treated as console output', async () => {
  Element.prototype.scrollIntoView = () => undefined
  const { send, user, exported } = await opened()
  const lines = [{ seq: 1, type: 'error', content: 'Exception with Zebra-7731' }]
  network
    .get(`/api/deployments/world/instances/${world.uid}/crash`)
    .answers({ exit: { code: 1, signal: null, at: world.crashedAt, reason: 'it ended' }, lines, cpu: [], memory: [] })
  await send('someplugin Zebra-7731')
  await user.click(screen.getByRole('tab', { name: 'Details' }))
  await user.click(await screen.findByRole('button', { name: 'Show' }))
  await screen.findByText(/Exception with Zebra-7731/)
  expect((await exported('Export action log')).text).not.toContain('Exception with')
  const { text } = await exported('Export with console output')
  expect(text).toContain('Exception with •••')
  expect(within(screen.getByRole('main')).getByText(/Exception with Zebra-7731/)).toBeInTheDocument()
})

test('decisions §10: a typed secret is masked in every text of the export, even if it was first typed into the wrong field', async () => {
  const { send, exported, store } = await opened()
  await send('say hunter2secret')
  act(() => void store.dispatch(searched('hunter2sec')))
  act(() => void store.dispatch(commandSubmitted('setkey hunter2secret')))
  const { text, log } = await exported('Export action log')
  expect(text).not.toContain('hunter2')
  expect(log.actions.find(({ type }) => type === 'console/commandSubmitted')?.payload).toBe('say •••')
})
