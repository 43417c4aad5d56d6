import type * as Dom from '@testing-library/dom'

jest.setTimeout(90_000)

if (typeof window !== 'undefined') {
  // Tests without a document start in half the time without these.
  jest.requireActual('@testing-library/jest-dom')
  // The first test of a page waits until its chunks are compiled, and without a cache that takes more than the usual second.
  jest.requireActual<typeof Dom>('@testing-library/dom').configure({ asyncUtilTimeout: 30_000 })
  // jsdom has no media queries: nothing matches, unless a test says so.
  window.matchMedia = (media) => Object.assign(new EventTarget(), { matches: false, media }) as MediaQueryList
  // Nor a layout whose changes could be observed.
  window.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
}
