import { act } from '@testing-library/react'

/** Hides or shows the page, as switching to another tab does. `jest.restoreAllMocks()` undoes it. */
export function setVisibility(state: DocumentVisibilityState): void {
  jest.spyOn(document, 'visibilityState', 'get').mockReturnValue(state)
  act(() => void document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
}
