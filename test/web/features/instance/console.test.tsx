import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { sessionEnded, sessionStarted } from '../../../../src/web/facts'
import { commandSubmitted } from '../../../../src/web/sockets/consoleSlice'
import { instanceOf, tokenOf } from '../../../support/web/factories'
import { renderApp } from '../../../support/web/renderApp'

const lobby = instanceOf('3fa2c1-lobby')
const ROW = 20

async function shown({ stored = {}, uid = lobby.uid }: { stored?: Record<string, string>; uid?: string } = {}) {
  const app = renderApp(`/instance/lobby/${uid}`, { signedInAs: 'ann', stored })
  app.network.get('/api/deployments/lobby/instances').answers({ instances: [lobby, instanceOf('77e0d4-lobby')] })
  await waitFor(() => expect(app.console.listener).toBeDefined())
  act(() => app.console.listener?.opened())
  const print = async (...lines: string[]) => {
    const { next } = app.store.getState().console!.buffer
    act(() => app.console.receive({ type: 'message', content: lines.join('\n') }))
    await waitFor(() => expect(app.store.getState().console!.buffer.next).toBe(next + lines.length))
  }
  return { ...app, print }
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)
const field = () => screen.getByRole('textbox', { name: 'Command' })
const log = () => screen.getByRole('log', { name: 'Console output' })
const rows = () => [...log().querySelectorAll('[data-line]')].map((row) => row.textContent)
const tool = (name: string) => screen.getByRole('button', { name })
const jump = () => screen.queryByRole('button', { name: /^(Jump|Paused)/ })

/** Mocks the layout that jsdom lacks: a window of 500 pixels with content of the given height. */
function layOut() {
  const height = (pane: Element) => parseFloat(pane.querySelector<HTMLElement>('div')?.style.height ?? '0')
  const isPane = (element: Element) => element.getAttribute('role') === 'log'
  jest.spyOn(Element.prototype, 'clientHeight', 'get').mockImplementation(function (this: Element) {
    return isPane(this) ? 500 : 0
  })
  jest.spyOn(Element.prototype, 'scrollHeight', 'get').mockImplementation(function (this: Element) {
    return isPane(this) ? Math.max(500, height(this)) : 0
  })
}
const scrollTo = (top: number) => fireEvent.scroll(log(), { target: { scrollTop: top } })

/** jsdom has no layout, so that nothing is ever resized. */
let resized = () => {}
class FakeResizeObserver {
  constructor(callback: () => void) {
    resized = callback
  }
  observe() {}
  unobserve() {}
  disconnect() {}
}

beforeEach(layOut)
beforeEach(() => {
  globalThis.ResizeObserver = FakeResizeObserver as unknown as typeof ResizeObserver
})
afterEach(() => jest.restoreAllMocks())

test('§2 Enter sends the command and clears the field; a blank command is not sent', async () => {
  const { user, console } = await shown()
  await user.type(field(), 'say hi{Enter}')
  expect(field()).toHaveValue('')
  await user.type(field(), '   {Enter}')
  expect(console.sent).toEqual([{ type: 'command', command: 'say hi' }])
})

test('a sent command is shown in the log, in a style of its own and as plain text', async () => {
  const { user, print } = await shown()
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
  const { store, console } = await shown()
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
  const { print, user, services } = await shown()
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

test('the log follows the end in a window of any height', async () => {
  const { print } = await shown()
  jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(240)
  act(() => resized())
  await print(...numbered(1, 300))
  expect(log().scrollTop).toBe(300 * ROW - 240)
  expect(rows().length).toBeLessThan(20)
})

test('§5 a closed socket disables sending, keeps the draft and shows the connection state', async () => {
  const { user, console } = await shown()
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
  const { user } = await shown()
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
  const { user, store, services, network } = await shown()
  network.shows([])
  await user.type(field(), '/login hunter22')
  await user.click(screen.getByRole('tab', { name: 'Metrics' }))
  await user.click(screen.getByRole('tab', { name: 'Console' }))
  expect(field()).toHaveValue('/login hunter22')

  const go = (path: string) =>
    act(() => {
      window.history.pushState({ usr: null, key: path, idx: 1 }, '', path)
      window.dispatchEvent(new PopStateEvent('popstate', { state: window.history.state }))
    })
  go('/instance/lobby/uid-77e0d4-lobby')
  await screen.findByRole('heading', { level: 1, name: '77e0d4-lobby' })
  expect(field()).toHaveValue('')
  go(`/instance/lobby/${lobby.uid}`)
  await screen.findByRole('heading', { level: 1, name: '3fa2c1-lobby' })
  expect(field()).toHaveValue('/login hunter22')
  expect(JSON.stringify([store.getState(), ...services.stored])).not.toContain('hunter22')

  act(() => void store.dispatch(sessionEnded('signedOut')))
  await screen.findByRole('heading', { name: 'Sign In' })
  services.jar.set('token', tokenOf('bob'))
  act(() => void store.dispatch(sessionStarted({ id: 'bob', isAdmin: false, expiresAt: Date.now() + 60_000 })))
  go(`/instance/lobby/${lobby.uid}`)
  expect(await screen.findByRole('textbox', { name: 'Command' })).toHaveValue('')
})

test('§5 the browser stores the last 100 commands per instance, except commands that contain secrets', async () => {
  const first = await shown()
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

  const again = await shown({ stored })
  await again.user.click(field())
  await again.user.keyboard('{ArrowUp}')
  expect(field()).toHaveValue('say 103')
  await again.user.keyboard('{ArrowUp>120/}')
  expect(field()).toHaveValue('say 5')
  again.leave()

  const other = await shown({ stored, uid: 'uid-77e0d4-lobby' })
  await other.user.click(field())
  await other.user.keyboard('{ArrowUp}')
  expect(field()).toHaveValue('')
})

test('§5 the browser does not store what is no command, such as an answer to a prompt for a password', async () => {
  const { user, services } = await shown()
  await user.type(field(), 'hunter22{Enter}list{Enter}')
  expect(services.stored.get('console-history')).toMatch(/"list"/)
  expect(JSON.stringify([...services.stored])).not.toContain('hunter22')
})

test.each(['{', '[1]', '[["pod-3fa2c1-lobby",[7]]]', '"x"'])(
  'an invalid stored history is ignored: %p',
  async (history) => {
    const { user } = await shown({ stored: { 'console-history': history } })
    await user.click(field())
    await user.keyboard('{ArrowUp}')
    expect(field()).toHaveValue('')
  },
)

test('security 40: a line is rendered as text, with ANSI colors', async () => {
  const { print } = await shown()
  await print('<img src=x onerror=alert(1)>', 'a \u001b[31mred\u001b[0m word')
  expect(rows()).toEqual(['<img src=x onerror=alert(1)>', 'a red word'])
  expect(log().querySelector('img')).toBeNull()
  expect(screen.getByText('red')).toHaveStyle({ color: 'var(--ansi-1)' })
})

test('decisions §6: the log renders only the visible of 5,000 lines and starts at the newest', async () => {
  const { print } = await shown()
  await print(...numbered(1, 5000))
  await waitFor(() => expect(rows().at(-1)).toBe('line 5000'))
  expect(rows().length).toBeLessThan(60)
  expect(log().scrollTop).toBe(5000 * ROW - 500)
})

test('§4 scrolling up turns auto-scroll off, and new lines do not move the view', async () => {
  const { print } = await shown()
  await print(...numbered(1, 300))
  scrollTo(2000)
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', 'false')
  const before = rows()
  expect(before).toContain('line 101')
  await print(...numbered(301, 6300))
  expect(rows()).toEqual(before)
  expect(log().scrollTop).toBe(2000)
  expect(jump()).toHaveTextContent('Jump to bottom (6,000 new)')
})

test.each([
  [5, 'true'],
  [6, 'false'],
])('§4 at %p pixels from the bottom, auto-scroll is on: %p', async (distance, on) => {
  const { print } = await shown()
  await print(...numbered(1, 300))
  scrollTo(100)
  scrollTo(300 * ROW - 500 - distance)
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', on)
})

test('§4 arriving lines do not count as scrolling away', async () => {
  const { print } = await shown()
  await print(...numbered(1, 300))
  await print(...numbered(301, 400))
  fireEvent.scroll(log())
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', 'true')
  expect(rows().at(-1)).toBe('line 400')
})

test('Jump to bottom shows the new lines and turns auto-scroll on', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  scrollTo(0)
  await print('the newest')
  expect(jump()).toHaveTextContent('Jump to bottom (1 new)')
  await user.click(jump()!)
  expect(rows().at(-1)).toBe('the newest')
  expect(jump()).toBeNull()
  expect(field()).toHaveFocus()
})

test("§4 the preference 'console-autoscroll' is read at start and written only by the Auto-scroll button", async () => {
  const first = await shown({ stored: { 'console-autoscroll': 'false' } })
  await first.print(...numbered(1, 300))
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', 'false')
  expect(rows()[0]).toBe('line 1')
  await first.user.click(tool('Auto-scroll'))
  expect(first.services.stored.get('console-autoscroll')).toBe('true')
  expect(rows().at(-1)).toBe('line 300')
  scrollTo(0)
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', 'false')
  expect(first.services.stored.get('console-autoscroll')).toBe('true')
  await first.user.click(tool('Auto-scroll'))
  await first.user.click(tool('Auto-scroll'))
  expect(first.services.stored.get('console-autoscroll')).toBe('false')
})

test('Pause freezes the view while lines are still buffered; Resume shows them', async () => {
  const { print, user } = await shown()
  await print('before')
  await user.click(tool('Pause'))
  await print('one', 'two')
  expect(rows()).toEqual(['before'])
  expect(jump()).toHaveTextContent('Paused – resume (2 new)')
  await user.click(tool('Resume'))
  expect(rows()).toEqual(['before', 'one', 'two'])
})

test('Ctrl+F searches the console with count, highlights and steps; Escape returns to the command field', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  await user.click(field())
  await user.keyboard('{Control>}f{/Control}')
  const search = screen.getByRole('textbox', { name: 'Search the console' })
  expect(search).toHaveFocus()
  await user.keyboard('LINE 10')
  const count = () => within(screen.getByRole('search')).getByRole('status').textContent
  await waitFor(() => expect(count()).toBe('11 of 11'))
  expect(log().querySelector('.found')).toHaveTextContent('line 109')
  expect(within(log()).getAllByText('line 10', { selector: 'mark' })).toHaveLength(10)
  await user.click(tool('Next match'))
  expect(count()).toBe('1 of 11')
  expect(log().querySelector('.found')).toHaveTextContent('line 10')
  await user.click(tool('Previous match'))
  expect(count()).toBe('11 of 11')
  await user.click(search)
  await user.keyboard('nothing like it')
  await waitFor(() => expect(count()).toBe('No match'))
  await user.keyboard('{Escape}')
  expect(search).toHaveValue('')
  expect(field()).toHaveFocus()
  expect(log().querySelector('mark')).toBeNull()
})

type User = Awaited<ReturnType<typeof shown>>['user']
const searchField = () => screen.getByRole('textbox', { name: 'Search the console' })
const count = () => within(screen.getByRole('search')).getByRole('status').textContent

test('typing a search jumps to the nearest match, upwards from the bottom or onwards from the scroll position', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  await waitFor(() => expect(log()).toHaveTextContent('line 300'))
  await user.type(searchField(), 'line 1')
  await waitFor(() => expect(count()).toBe('111 of 111'))
  expect(log().querySelector('.found')).toHaveTextContent('line 199')
  await user.type(searchField(), '5')
  await waitFor(() => expect(count()).toBe('11 of 11'))
  expect(log().querySelector('.found')).toHaveTextContent('line 159')
  await user.clear(searchField())
  scrollTo(20 * ROW)
  await user.type(searchField(), 'line 2')
  await waitFor(() => expect(count()).toBe('3 of 111'))
  expect(log().querySelector('.found')).toHaveTextContent('line 21')
  // Later lines do not move the view.
  scrollTo(0)
  await print('line 2')
  await waitFor(() => expect(count()).toBe('3 of 112'))
  expect(log().scrollTop).toBe(0)
})

test.each([
  [
    'scrolled up',
    async (user: User) => {
      await user.click(field())
      scrollTo(2000)
    },
  ],
  ['paused', (user: User) => user.click(tool('Pause'))],
])('a search while %s finds visible lines and lines that arrived since', async (_case, stay) => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  await stay(user)
  await print(...numbered(301, 5400), 'a needle')
  await user.type(searchField(), 'needle')
  await waitFor(() => expect(count()).toBe('1 of 1'))
  expect(log().querySelector('.found')).toHaveTextContent('a needle')
  await print('another needle')
  await waitFor(() => expect(count()).toBe('1 of 2'))
  await user.keyboard('{Enter}')
  await waitFor(() => expect(count()).toBe('2 of 2'))
  expect(log().querySelector('.found')).toHaveTextContent('another needle')
})

test('a search finds visible lines that are no longer in the buffer', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  scrollTo(2000)
  await print(...numbered(301, 6300))
  await user.type(searchField(), 'line 110')
  await waitFor(() => expect(count()).toBe('1 of 1'))
  expect(log().querySelector('.found')).toHaveTextContent('line 110')
})

test('several matches in a line are counted separately, and the current one is highlighted differently', async () => {
  const { print, user } = await shown()
  await print('ab ab', 'none', 'AB')
  await user.type(searchField(), 'ab')
  await waitFor(() => expect(count()).toBe('3 of 3'))
  const shownAt = () => [...log().querySelectorAll('mark')].map((mark) => mark.classList.contains('current'))
  expect(shownAt()).toEqual([false, false, true])
  await user.keyboard('{Enter}')
  expect(count()).toBe('2 of 3')
  expect(shownAt()).toEqual([false, true, false])
  await user.keyboard('{Enter}')
  expect(count()).toBe('1 of 3')
  expect(shownAt()).toEqual([true, false, false])
  await user.keyboard('{Shift>}{Enter}{/Shift}')
  expect(shownAt()).toEqual([false, true, false])
})

test('at most 100 matches in a line are highlighted, including the current one', async () => {
  const { print, user } = await shown()
  await print('ab'.repeat(4000))
  await user.type(searchField(), 'ab')
  await waitFor(() => expect(count()).toBe('4,000 of 4,000'))
  expect(log().querySelectorAll('mark').length).toBeLessThanOrEqual(100)
  expect(log().querySelectorAll('mark.current')).toHaveLength(1)
  expect(rows()).toEqual(['ab'.repeat(4000)])
})

test('a match across a color change is highlighted completely', async () => {
  const { print, user } = await shown()
  await print('say \u001b[31mhel\u001b[0mlo twice: hello')
  await user.type(screen.getByRole('textbox', { name: 'Search the console' }), 'hello')
  const marks = [...log().querySelectorAll('mark')].map((mark) => mark.textContent)
  expect(marks).toEqual(['hel', 'lo', 'hello'])
  expect(rows()).toEqual(['say hello twice: hello'])
})

test('Clear empties the log, and later lines are shown', async () => {
  const { print, user } = await shown()
  expect(screen.getByText('No output yet')).toBeVisible()
  await print(...numbered(1, 300))
  scrollTo(0)
  await user.click(tool('Clear'))
  expect(rows()).toEqual([])
  expect(screen.getByText(/^Cleared/)).toBeVisible()
  await print('afterwards')
  expect(screen.queryByText(/^Cleared/)).toBeNull()
  expect(rows()).toEqual(['afterwards'])
  expect(jump()).toBeNull()
})

test('Copy copies all lines as plain text, including lines out of view', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 200), '\u001b[31mred\u001b[0m')
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(tool('Copy the selection, or all lines'))
  expect(write).toHaveBeenCalledWith([...numbered(1, 200), 'red', ''].join('\n'))
  expect(await screen.findByText('Copied 201 lines')).toBeVisible()
})

test('Copy copies the selection in the log', async () => {
  const { print, user } = await shown()
  await print('one', 'two', 'three')
  const text = screen.getByText('two').firstChild!
  window.getSelection()!.setBaseAndExtent(text, 0, text, 3)
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(tool('Copy the selection, or all lines'))
  expect(write).toHaveBeenCalledWith('two')
})

const copied = () => {
  const event = new Event('copy', { bubbles: true, cancelable: true })
  let text: string | undefined
  Object.assign(event, { clipboardData: { setData: (_type: string, data: string) => (text = data) } })
  fireEvent(document.body, event)
  return text
}

test('Ctrl+A selects all lines of the log; Ctrl+C and Copy include lines out of view', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 200))
  act(() => log().focus())
  await user.keyboard('{Control>}a{/Control}')
  expect(window.getSelection()!.toString()).toContain('line 200')
  expect(copied()).toBe(numbered(1, 200).join('\n'))
  await print('later')
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(tool('Copy the selection, or all lines'))
  expect(write).toHaveBeenCalledWith(numbered(1, 200).join('\n'))
  expect(await screen.findByText('Copied the selection')).toBeVisible()
  act(() => log().focus())
  await user.keyboard('{Escape}')
  expect(window.getSelection()!.isCollapsed).toBe(true)
  expect(copied()).toBeUndefined()
})

test('the log selection survives scrolling', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  scrollTo(0)
  act(() => log().focus())
  await user.keyboard('{Control>}a{/Control}')
  scrollTo(3000)
  expect(window.getSelection()!.toString()).toContain('line 151')
  expect(window.getSelection()!.toString()).not.toContain('line 300')
  expect(copied()).toBe(numbered(1, 300).join('\n'))
})

test('focusing the command field or clearing the log ends the log selection', async () => {
  const { print, user } = await shown()
  await print('one', 'two')
  const selectAll = async () => {
    act(() => log().focus())
    await user.keyboard('{Control>}a{/Control}')
    expect(copied()).toBe('one\ntwo')
  }
  await selectAll()
  await user.click(field())
  expect(copied()).toBeUndefined()
  await selectAll()
  await user.click(tool('Clear'))
  expect(copied()).toBeUndefined()
})

test('Download saves the lines as a .log file named after the instance', async () => {
  const { print, user } = await shown()
  await print('\u001b[31mred\u001b[0m', 'plain')
  const saved: Blob[] = []
  const names: string[] = []
  URL.createObjectURL = (blob) => {
    saved.push(blob as Blob)
    return '#'
  }
  URL.revokeObjectURL = () => {}
  jest.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download)
  })
  await user.click(tool('Download'))
  expect(names).toEqual(['3fa2c1-lobby.log'])
  expect(await saved[0]!.text()).toBe('red\nplain\n')
})

test('leaving the page closes the console and clears its state', async () => {
  const { print, store, console, network, user } = await shown()
  await print('of the first')
  network.shows([])
  await user.click(screen.getByRole('link', { name: 'Back to home' }))
  await waitFor(() => expect(store.getState().console).toMatchObject({ target: null, buffer: { next: 0 } }))
  expect(console.closed).toBe(1)
})
