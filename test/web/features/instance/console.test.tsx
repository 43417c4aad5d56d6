import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import {
  ROW,
  consolePage,
  numbered,
  field,
  log,
  rows,
  tool,
  jump,
  scrollTo,
  mockLogLayout,
} from '../../../support/web/consolePage'

const layout = mockLogLayout()

test('the log follows the end in a window of any height', async () => {
  const { print } = await consolePage()
  jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(240)
  act(() => layout.resized())
  await print(...numbered(1, 300))
  expect(log().scrollTop).toBe(300 * ROW - 240)
  expect(rows().length).toBeLessThan(20)
})

test('security 40: a line is rendered as text, with ANSI colors', async () => {
  const { print } = await consolePage()
  await print('<img src=x onerror=alert(1)>', 'a \u001b[31mred\u001b[0m word')
  expect(rows()).toEqual(['<img src=x onerror=alert(1)>', 'a red word'])
  expect(log().querySelector('img')).toBeNull()
  expect(screen.getByText('red')).toHaveStyle({ color: 'var(--ansi-1)' })
})

test('decisions §6: the log renders only the visible of 5,000 lines and starts at the newest', async () => {
  const { print } = await consolePage()
  await print(...numbered(1, 5000))
  await waitFor(() => expect(rows().at(-1)).toBe('line 5000'))
  expect(rows().length).toBeLessThan(60)
  expect(log().scrollTop).toBe(5000 * ROW - 500)
})

test('§4 scrolling up turns auto-scroll off, and new lines do not move the view', async () => {
  const { print } = await consolePage()
  await print(...numbered(1, 300))
  scrollTo(100 * ROW)
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', 'false')
  const before = rows()
  expect(before).toContain('line 101')
  await print(...numbered(301, 6300))
  expect(rows()).toEqual(before)
  expect(log().scrollTop).toBe(100 * ROW)
  expect(jump()).toHaveTextContent('Jump to bottom (6,000 new)')
})

test.each([
  [5, 'true'],
  [6, 'false'],
])('§4 at %p pixels from the bottom, auto-scroll is on: %p', async (distance, on) => {
  const { print } = await consolePage()
  await print(...numbered(1, 300))
  scrollTo(100)
  scrollTo(300 * ROW - 500 - distance)
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', on)
})

test('§4 arriving lines do not count as scrolling away', async () => {
  const { print } = await consolePage()
  await print(...numbered(1, 300))
  await print(...numbered(301, 400))
  fireEvent.scroll(log())
  expect(tool('Auto-scroll')).toHaveAttribute('aria-pressed', 'true')
  expect(rows().at(-1)).toBe('line 400')
})

test('Jump to bottom shows the new lines and turns auto-scroll on', async () => {
  const { print, user } = await consolePage()
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
  const first = await consolePage({ stored: { 'console-autoscroll': 'false' } })
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
  const { print, user } = await consolePage()
  await print('before')
  await user.click(tool('Pause'))
  await print('one', 'two')
  expect(rows()).toEqual(['before'])
  expect(jump()).toHaveTextContent('Paused – resume (2 new)')
  await user.click(tool('Resume'))
  expect(rows()).toEqual(['before', 'one', 'two'])
})

test('Clear empties the log, and later lines are shown', async () => {
  const { print, user } = await consolePage()
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

test('leaving the page closes the console and clears its state', async () => {
  const { print, store, console, network, user } = await consolePage()
  await print('of the first')
  network.shows([])
  await user.click(screen.getByRole('link', { name: 'Back to home' }))
  await waitFor(() => expect(store.getState().console).toMatchObject({ target: null, buffer: { next: 0 } }))
  expect(console.closed).toBe(1)
})
