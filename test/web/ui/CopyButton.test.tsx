import { act, fireEvent, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { CopyButton } from '../../../src/web/ui/copy/CopyButton'

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** Renders the button. @returns a function that clicks it and waits until the outcome is shown */
function renderButton() {
  // Gives the page a clipboard.
  userEvent.setup()
  render(<CopyButton text="secret" label="Copy key" />)
  // The event is dispatched here because userEvent.click leaves act() while it waits: React would then show
  // the outcome whenever its scheduler has time.
  return () =>
    act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Copy key' }))
      await jest.advanceTimersByTimeAsync(0)
    })
}

test('§9 the copy confirmation shows for 2 s', async () => {
  const copy = renderButton()
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
  const copy = renderButton()
  jest.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('denied'))
  await copy()
  expect(screen.getByRole('status')).toHaveTextContent('Could not be copied')
})
