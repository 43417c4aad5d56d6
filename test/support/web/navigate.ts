import { act } from '@testing-library/react'

/** Goes to another page without a link. @param passed what a link passes along */
export const navigate = (path: string, passed: unknown = null) =>
  act(() => {
    window.history.pushState({ usr: passed, key: path, idx: 1 }, '', path)
    window.dispatchEvent(new PopStateEvent('popstate', { state: window.history.state }))
  })
