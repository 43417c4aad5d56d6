import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { sessionEnded, sessionStarted } from '../../../../src/web/facts'
import { commandSubmitted } from '../../../../src/web/sockets/consoleSlice'
import {
  lobby,
  consolePage,
  type User,
  numbered,
  field,
  log,
  rows,
  tool,
  jump,
  scrollTo,
  mockLogLayout,
} from '../../../support/web/consolePage'
import { tokenOf } from '../../../support/web/factories'
import { navigate } from '../../../support/web/navigate'

mockLogLayout()

test('§2 Enter sends the command and clears the field; a blank command is not sent', async () => {
  const { user, console } = await consolePage()
  await user.type(field(), 'say hi{Enter}')
  expect(field()).toHaveValue('')
  await user.type(field(), '   {Enter}')
  expect(console.sent).toEqual([{ type: 'command', command: 'say hi' }])
})

test('a sent command is shown in the log, in a style of its own and as plain text', async () => {
  const { user, print } = await consolePage()
  await print('before')
  await user.type(field(), 'list <b>all</b>{Enter}')
  await print('after')
  expect(rows()).toEqual(['before', '> list <b>all</b>', 'after'])
  const line = log().querySelector('.command')
  expect(line).toHaveTextContent('> list <b>all</b>')
  expect(line?.querySelector('.chevron')?.textContent).toBe('> ')
  expect(log().querySelector('b')).toBeNull()
})

test('a command that could not be sent is not shown in the log', async () => {
  const { store, console } = await consolePage()
  act(() => console.listener?.closed(1006))
  await waitFor(() => expect(rows()).toEqual(['[System] Socket closed unexpectedly.']))
  jest.spyOn(globalThis.console, 'warn').mockImplementation(() => {})
  act(() => void store.dispatch(commandSubmitted('list')))
  expect(store.getState().console).toMatchObject({ submitted: null })
  expect(rows()).toEqual(['[System] Socket closed unexpectedly.'])
})

test.each([
  ['scrolled up', () => Promise.resolve(scrollTo(0))],
  ['paused', (user: User) => user.click(tool('Pause'))],
])('sending a command while %s returns to the end and turns auto-scroll on', async (_case, leave) => {
  const { print, user, services } = await consolePage()
  await print(...numbered(1, 300))
  await leave(user)
  await print('unseen')
  expect(jump()).toBeVisible()
  await user.type(field(), 'list{Enter}')
  expect(rows().slice(-2)).toEqual(['unseen', '> list'])
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', 'true')
  expect(jump()).toBeNull()
  // It is no choice for later visits (§4).
  expect(services.stored.has('console-autoscroll')).toBe(false)
})

test('§5 a closed socket disables sending, keeps the draft and shows the connection state', async () => {
  const { user, console } = await consolePage()
  const badge = () => screen.getByRole('status', { name: 'Console connection' })
  expect(badge()).toHaveTextContent('Connected')
  await user.type(field(), 'half a com')
  act(() => console.listener?.closed(1006))
  expect(badge()).toHaveTextContent('Disconnected – reconnecting')
  await user.type(field(), 'mand{Enter}')
  expect(field()).toHaveValue('half a com')
  expect(field()).toHaveFocus()
  expect(tool('Send')).toBeDisabled()
  await waitFor(() => expect(console.urls).toHaveLength(2))
  act(() => console.listener?.opened())
  await user.type(field(), 'mand{Enter}')
  expect(console.sent).toEqual([{ type: 'command', command: 'half a command' }])
})

test('§2, §5 Up and Down walk the history without consecutive duplicates and return to the draft', async () => {
  const { user } = await consolePage()
  for (const command of ['one', 'two', 'two', 'one']) await user.type(field(), `${command}{Enter}`)
  await user.type(field(), 'draft')
  const seen: string[] = []
  for (const key of ['Up', 'Up', 'Up', 'Up', 'Down', 'Down', 'Down', 'Down']) {
    await user.keyboard(`{Arrow${key}}`)
    seen.push((field() as HTMLInputElement).value)
  }
  expect(seen).toEqual(['one', 'two', 'one', 'one', 'two', 'one', 'draft', 'draft'])
})

test('a command draft survives tab and page changes per instance, outside store and storage, until the session ends', async () => {
  const { user, store, services, network } = await consolePage()
  network.shows([])
  await user.type(field(), '/login hunter22')
  await user.click(screen.getByRole('tab', { name: 'Metrics' }))
  await user.click(screen.getByRole('tab', { name: 'Console' }))
  expect(field()).toHaveValue('/login hunter22')

  navigate('/instance/lobby/uid-77e0d4-lobby')
  await screen.findByRole('heading', { level: 1, name: '77e0d4-lobby' })
  expect(field()).toHaveValue('')
  navigate(`/instance/lobby/${lobby.uid}`)
  await screen.findByRole('heading', { level: 1, name: '3fa2c1-lobby' })
  expect(field()).toHaveValue('/login hunter22')
  expect(JSON.stringify([store.getState(), ...services.stored])).not.toContain('hunter22')

  act(() => void store.dispatch(sessionEnded('signedOut')))
  await screen.findByRole('heading', { name: 'Sign In' })
  services.jar.set('token', tokenOf('bob'))
  act(() => void store.dispatch(sessionStarted({ id: 'bob', isAdmin: false, expiresAt: Date.now() + 60_000 })))
  navigate(`/instance/lobby/${lobby.uid}`)
  expect(await screen.findByRole('textbox', { name: 'Command' })).toHaveValue('')
})

test('§5 the browser stores the last 100 commands per instance, except commands that contain secrets', async () => {
  const first = await consolePage()
  for (let number = 1; number <= 103; number++) {
    fireEvent.change(field(), { target: { value: `say ${number}` } })
    fireEvent.submit(field())
  }
  await first.user.type(field(), '/login hunter22{Enter}')
  await first.user.keyboard('{ArrowUp}')
  expect(field()).toHaveValue('/login hunter22')
  const stored = Object.fromEntries(first.services.stored)
  expect(JSON.stringify(stored)).not.toContain('hunter22')
  first.leave()

  const again = await consolePage({ stored })
  await again.user.click(field())
  await again.user.keyboard('{ArrowUp}')
  expect(field()).toHaveValue('say 103')
  await again.user.keyboard('{ArrowUp>120/}')
  expect(field()).toHaveValue('say 5')
  again.leave()

  const other = await consolePage({ stored, uid: 'uid-77e0d4-lobby' })
  await other.user.click(field())
  await other.user.keyboard('{ArrowUp}')
  expect(field()).toHaveValue('')
})

test('the arrow keys of an input method, which choose a candidate, do not recall commands', async () => {
  const { user } = await consolePage()
  await user.type(field(), 'say hello{Enter}')
  fireEvent.keyDown(field(), { key: 'ArrowUp', isComposing: true })
  expect(field()).toHaveValue('')
  fireEvent.keyDown(field(), { key: 'ArrowUp' })
  expect(field()).toHaveValue('say hello')
})

test('§5 the browser does not store what is no command, such as a response to a prompt for a password', async () => {
  const { user, services } = await consolePage()
  await user.type(field(), 'hunter22{Enter}list{Enter}')
  expect(services.stored.get('console-history')).toMatch(/"list"/)
  expect(JSON.stringify([...services.stored])).not.toContain('hunter22')
})

test('security 6: the commands of a user are recalled for them only, not for the next user of the browser', async () => {
  const first = await consolePage()
  await first.user.type(field(), 'msg bob the door opens with Eisvogel 33{Enter}')
  const stored = Object.fromEntries(first.services.stored)
  first.leave()

  const next = await consolePage({ stored, signedInAs: 'bob' })
  await next.user.click(field())
  await next.user.keyboard('{ArrowUp}')
  expect(field()).toHaveValue('')
  expect(next.store.getState().instance?.commands).toEqual([])
  await next.user.type(field(), 'list{Enter}')
  const storedByNext = Object.fromEntries(next.services.stored)
  next.leave()

  const again = await consolePage({ stored: storedByNext })
  await again.user.click(field())
  await again.user.keyboard('{ArrowUp}')
  expect(field()).toHaveValue('msg bob the door opens with Eisvogel 33')
})

// The last one, of an earlier version, may be any user's.
test.each(['{', '[1]', '[["pod-3fa2c1-lobby",[7],"[\\"ann\\",null]"]]', '"x"', '[["pod-3fa2c1-lobby",["list"]]]'])(
  'an invalid stored history is ignored: %p',
  async (history) => {
    const { user } = await consolePage({ stored: { 'console-history': history } })
    await user.click(field())
    await user.keyboard('{ArrowUp}')
    expect(field()).toHaveValue('')
  },
)
