import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { instanceOf } from '../../../support/web/factories'
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

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)
const field = () => screen.getByRole('textbox', { name: 'Command' })
const log = () => screen.getByRole('log', { name: 'Console output' })
const rows = () => [...log().querySelectorAll('.log-row')].map((row) => row.textContent)
const tool = (name: string) => screen.getByRole('button', { name })
const jump = () => screen.queryByRole('button', { name: /^(Jump|Paused)/ })

/** jsdom has no layout: the window is 500 pixels high, and its content as high as it was made. */
function layOut() {
  const height = (pane: Element) => parseFloat(pane.querySelector<HTMLElement>('.log-lines')?.style.height ?? '0')
  const isPane = (element: Element) => element.classList.contains('log-pane')
  jest.spyOn(Element.prototype, 'clientHeight', 'get').mockImplementation(function (this: Element) {
    return isPane(this) ? 500 : 0
  })
  jest.spyOn(Element.prototype, 'scrollHeight', 'get').mockImplementation(function (this: Element) {
    return isPane(this) ? Math.max(500, height(this)) : 0
  })
}
const scrollTo = (top: number) => fireEvent.scroll(log(), { target: { scrollTop: top } })

beforeEach(layOut)
afterEach(() => jest.restoreAllMocks())

test('§2 Enter sends what was typed and empties the field; nothing is sent for nothing', async () => {
  const { user, console } = await shown()
  await user.type(field(), 'say hi{Enter}')
  expect(field()).toHaveValue('')
  await user.type(field(), '   {Enter}')
  expect(console.sent).toEqual([{ type: 'command', command: 'say hi' }])
})

test('§5 while the socket is not open nothing can be sent, the draft stays, and the state is said', async () => {
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

test('§2, §5 Up and Down walk the history, without consecutive duplicates, and come back to the draft', async () => {
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

test('§5 the history is kept per instance in the browser: the last 100, and nothing that looks secret', async () => {
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

test.each(['{', '[1]', '[["pod-3fa2c1-lobby",[7]]]', '"x"'])('a stored history that is none is none: %p', async (history) => {
  const { user } = await shown({ stored: { 'console-history': history } })
  await user.click(field())
  await user.keyboard('{ArrowUp}')
  expect(field()).toHaveValue('')
})

test('security 40: a line is text, and colours are drawn', async () => {
  const { print } = await shown()
  await print('<img src=x onerror=alert(1)>', 'a \u001b[31mred\u001b[0m word')
  expect(rows()).toEqual(['<img src=x onerror=alert(1)>', 'a red word'])
  expect(log().querySelector('img')).toBeNull()
  expect(screen.getByText('red')).toHaveStyle({ color: 'var(--ansi-1)' })
})

test('decisions §6: of 5,000 lines only those that are seen are in the page, the newest last', async () => {
  const { print } = await shown()
  await print(...numbered(1, 5000))
  await waitFor(() => expect(rows().at(-1)).toBe('line 5000'))
  expect(rows().length).toBeLessThan(60)
  expect(log().scrollTop).toBe(5000 * ROW - 500)
})

test('§4 auto-scroll goes off when the user scrolls away, and what is read stays while lines pour in', async () => {
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
])('§4 auto-scroll is on again %p pixels from the bottom: %p', async (distance, on) => {
  const { print } = await shown()
  await print(...numbered(1, 300))
  scrollTo(100)
  scrollTo(300 * ROW - 500 - distance)
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', on)
})

test('§4 lines that come do not count as scrolling away', async () => {
  const { print } = await shown()
  await print(...numbered(1, 300))
  await print(...numbered(301, 400))
  fireEvent.scroll(log())
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', 'true')
  expect(rows().at(-1)).toBe('line 400')
})

test('Jump to bottom shows what is new and follows it again', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  scrollTo(0)
  await print('the newest')
  expect(jump()).toHaveTextContent('Jump to bottom (1 new)')
  await user.click(jump()!)
  expect(rows().at(-1)).toBe('the newest')
  expect(jump()).toBeNull()
})

test("§4 the preference 'console-autoscroll' is read, and written when chosen by hand only", async () => {
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

test('Pause freezes the view while lines go on being kept; Resume shows them', async () => {
  const { print, user } = await shown()
  await print('before')
  await user.click(tool('Pause'))
  await print('one', 'two')
  expect(rows()).toEqual(['before'])
  expect(jump()).toHaveTextContent('Paused – resume (2 new)')
  await user.click(tool('Resume'))
  expect(rows()).toEqual(['before', 'one', 'two'])
})

test('Ctrl+F searches the console: count, steps both ways, highlights, and Escape leads back to the command', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  await user.click(field())
  await user.keyboard('{Control>}f{/Control}')
  const search = screen.getByRole('textbox', { name: 'Search the console' })
  expect(search).toHaveFocus()
  await user.keyboard('LINE 10')
  const count = () => within(screen.getByRole('search')).getByRole('status').textContent
  await waitFor(() => expect(count()).toBe('– of 11'))
  await user.keyboard('{Enter}')
  expect(count()).toBe('11 of 11')
  expect(log().querySelector('.found')).toHaveTextContent('line 109')
  expect(within(log()).getAllByText('line 10', { selector: 'mark' })).toHaveLength(10)
  await user.click(tool('Next match'))
  expect(count()).toBe('1 of 11')
  expect(log().querySelector('.found')).toHaveTextContent('line 10')
  await user.click(tool('Previous match'))
  expect(count()).toBe('11 of 11')
  await user.click(search)
  await user.keyboard('nothing like it')
  expect(count()).toBe('No match')
  await user.keyboard('{Escape}')
  expect(search).toHaveValue('')
  expect(field()).toHaveFocus()
  expect(log().querySelector('mark')).toBeNull()
})

test('a match that colours cut in two is highlighted whole', async () => {
  const { print, user } = await shown()
  await print('say \u001b[31mhel\u001b[0mlo twice: hello')
  await user.type(screen.getByRole('textbox', { name: 'Search the console' }), 'hello')
  const marks = [...log().querySelectorAll('mark')].map((mark) => mark.textContent)
  expect(marks).toEqual(['hel', 'lo', 'hello'])
  expect(rows()).toEqual(['say hello twice: hello'])
})

test('Clear empties the log, and what comes after is shown', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 300))
  scrollTo(0)
  await user.click(tool('Clear'))
  expect(rows()).toEqual([])
  expect(screen.getByText('No output yet')).toBeVisible()
  await print('afterwards')
  expect(rows()).toEqual(['afterwards'])
  expect(jump()).toBeNull()
})

test('Copy takes all lines as text, those out of sight too', async () => {
  const { print, user } = await shown()
  await print(...numbered(1, 200), '\u001b[31mred\u001b[0m')
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(tool('Copy the selection, or all lines'))
  expect(write).toHaveBeenCalledWith([...numbered(1, 200), 'red', ''].join('\n'))
  expect(await screen.findByText('Copied 201 lines')).toBeVisible()
})

test('Copy takes the selection when there is one in the log', async () => {
  const { print, user } = await shown()
  await print('one', 'two', 'three')
  const text = screen.getByText('two').firstChild!
  window.getSelection()!.setBaseAndExtent(text, 0, text, 3)
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(tool('Copy the selection, or all lines'))
  expect(write).toHaveBeenCalledWith('two')
})

test('Download saves the lines as a .log of the name of the instance', async () => {
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

test('whoever leaves the page leaves nothing of the console behind', async () => {
  const { print, store, console, network, user } = await shown()
  await print('of the first')
  network.shows([])
  await user.click(screen.getByRole('link', { name: 'Back to home' }))
  await waitFor(() => expect(store.getState().console).toMatchObject({ target: null, buffer: { next: 0 } }))
  expect(console.closed).toBe(1)
})
