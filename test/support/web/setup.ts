import { configure } from '@testing-library/dom'
import '@testing-library/jest-dom'

// The first test of a page waits until its chunks are compiled, and without a cache that takes more than the usual second.
configure({ asyncUtilTimeout: 30_000 })
jest.setTimeout(90_000)

// jsdom has no media queries: nothing matches, unless a test says so.
if (typeof window !== 'undefined') {
  window.matchMedia = (media) => Object.assign(new EventTarget(), { matches: false, media }) as MediaQueryList
  // Nor a layout whose changes could be observed.
  window.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
}
