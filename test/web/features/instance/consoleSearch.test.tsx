import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import {
  ROW,
  consolePage,
  type User,
  numbered,
  field,
  searchField,
  count,
  log,
  rows,
  tool,
  scrollTo,
  mockLogLayout,
} from '../../../support/web/consolePage'

mockLogLayout()

test('Ctrl+F searches the console with count, highlights and steps; Escape returns to the command field', async () => {
  const { print, user } = await consolePage()
  await print(...numbered(1, 300))
  await user.click(field())
  await user.keyboard('{Control>}f{/Control}')
  const search = searchField()
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

test('Enter and Escape of an input method neither change the match nor end the search', async () => {
  const { print, user } = await consolePage()
  await print(...numbered(1, 30))
  await user.type(searchField(), 'line')
  await waitFor(() => expect(count()).toBe('30 of 30'))
  for (const key of ['Enter', 'Escape']) fireEvent.keyDown(searchField(), { key, isComposing: true })
  expect(count()).toBe('30 of 30')
  expect(searchField()).toHaveValue('line')
  fireEvent.keyDown(searchField(), { key: 'Enter' })
  expect(count()).toBe('29 of 30')
})

test('typing a search jumps to the nearest match, upwards from the bottom or onwards from the scroll position', async () => {
  const { print, user } = await consolePage()
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
      scrollTo(100 * ROW)
    },
  ],
  ['paused', (user: User) => user.click(tool('Pause'))],
])('a search while %s finds visible lines and lines that arrived since', async (_case, stay) => {
  const { print, user } = await consolePage()
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
  const { print, user } = await consolePage()
  await print(...numbered(1, 300))
  scrollTo(100 * ROW)
  await print(...numbered(301, 6300))
  await user.type(searchField(), 'line 110')
  await waitFor(() => expect(count()).toBe('1 of 1'))
  expect(log().querySelector('.found')).toHaveTextContent('line 110')
})

test('several matches in a line are counted separately, and the current one is highlighted differently', async () => {
  const { print, user } = await consolePage()
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
  const { print, user } = await consolePage()
  await print('ab'.repeat(4000))
  await user.type(searchField(), 'ab')
  await waitFor(() => expect(count()).toBe('4,000 of 4,000'))
  expect(log().querySelectorAll('mark').length).toBeLessThanOrEqual(100)
  expect(log().querySelectorAll('mark.current')).toHaveLength(1)
  expect(rows()).toEqual(['ab'.repeat(4000)])
})

test('a match across a color change is highlighted completely', async () => {
  const { print, user } = await consolePage()
  await print('say \u001b[31mhel\u001b[0mlo twice: hello')
  await user.type(searchField(), 'hello')
  const marks = [...log().querySelectorAll('mark')].map((mark) => mark.textContent)
  expect(marks).toEqual(['hel', 'lo', 'hello'])
  expect(rows()).toEqual(['say hello twice: hello'])
})
