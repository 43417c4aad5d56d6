import { act, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { CopyButton } from '../../../src/web/ui/CopyButton'

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

async function click() {
  const user = userEvent.setup({ advanceTimers: (milliseconds) => jest.advanceTimersByTime(milliseconds) })
  render(<CopyButton text="secret" label="Copy key" />)
  return async () => {
    await user.click(screen.getByRole('button', { name: 'Copy key' }))
    // The clipboard promise resolves after the click.
    await act(() => jest.advanceTimersByTimeAsync(0))
  }
}

test('§9 the copy confirmation shows for 2 s', async () => {
  const copy = await click()
  const icon = () => screen.getByRole('button').querySelector('path')?.getAttribute('d')
  const before = icon()
  await copy()
  const confirmation = icon()
  expect(confirmation).not.toBe(before)
  expect(screen.getByRole('status')).toHaveTextContent('Copied')
  act(() => jest.advanceTimersByTime(1900))
  expect(screen.getByRole('status')).toHaveTextContent('Copied')
  expect(icon()).toBe(confirmation)
  act(() => jest.advanceTimersByTime(200))
  expect(screen.getByRole('status')).toBeEmptyDOMElement()
  expect(icon()).toBe(before)
})

test('the copy button reports a failure when the clipboard is not available', async () => {
  const copy = await click()
  jest.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('denied'))
  await copy()
  expect(screen.getByRole('status')).toHaveTextContent('Could not be copied')
})
