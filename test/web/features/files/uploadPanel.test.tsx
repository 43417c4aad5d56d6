import { act, screen, waitFor, within } from '@testing-library/react'
import { file, panel, stored, uploading } from '../../../support/web/transfers'

afterEach(() => jest.useRealTimers())

test('uploads continue and stay visible on other pages; closing the tab asks for confirmation meanwhile', async () => {
  const { network, user, sends, answer } = await uploading([file('a')])
  await sends('a')
  network.shows([])
  await user.click(screen.getByRole('link', { name: 'Overview' }))
  await screen.findByRole('heading', { name: 'Network Overview' })
  expect(within(await panel()).getByText('a')).toBeVisible()
  const closes = () => window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
  expect(closes()).toBe(false)
  await answer('a', 200, stored('a'))
  await screen.findByText('1 of 1 uploaded')
  await waitFor(() => expect(closes()).toBe(true))
  await user.click(screen.getByRole('button', { name: 'Close' }))
  expect(screen.queryByRole('region', { name: 'Transfers' })).not.toBeInTheDocument()
})

test('the transfers panel collapses 5 s after all uploads succeeded, unless it has hover or focus', async () => {
  const { sends, answer, user, choose } = await uploading([file('a')])
  await sends('a')
  jest.useFakeTimers({ advanceTimers: true })
  const rests = () => act(() => jest.advanceTimersByTimeAsync(5000))
  await answer('a', 200, stored('a'))
  expect(await screen.findByText('1 of 1 uploaded')).toBeVisible()
  const found = within(await panel())
  const head = found.getByRole('button', { name: 'Uploads' })
  const entries = () => found.queryAllByRole('listitem').length

  await user.hover(head)
  await rests()
  expect(entries()).toBe(1)
  await user.unhover(head)
  await rests()
  expect(entries()).toBe(0)
  expect(head).toHaveAttribute('aria-expanded', 'false')
  expect(found.getByText('1 of 1 uploaded')).toBeVisible()

  // The expanded panel stays open while it has focus.
  await user.click(head)
  await rests()
  expect(entries()).toBe(1)
  act(() => head.blur())
  await user.unhover(head)
  await rests()
  expect(entries()).toBe(0)

  // The next upload expands the panel, and a failure keeps it open.
  choose([file('b')])
  await sends('b')
  await answer('b', 500, {})
  await rests()
  expect(entries()).toBe(2)
})

test('the conflict dialog does not keep the transfers panel expanded', async () => {
  const { sends, answer, user } = await uploading([file('old.txt')])
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Replace' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  await sends('old.txt')
  act(() => (document.activeElement as HTMLElement).blur())
  jest.useFakeTimers({ advanceTimers: true })
  await answer('old.txt', 200, stored('old.txt'))
  await screen.findByText('1 of 1 uploaded')
  await act(() => jest.advanceTimersByTimeAsync(5000))
  expect(within(await panel()).queryByRole('listitem')).not.toBeInTheDocument()
})
