import type * as Dom from '@testing-library/dom'

jest.setTimeout(90_000)

if (typeof window !== 'undefined') {
  // Tests without a document start twice as fast without these.
  jest.requireActual('@testing-library/jest-dom')
  // The first test of a page waits until its chunks are compiled, which takes longer than the default second without a
  // cache.
  jest.requireActual<typeof Dom>('@testing-library/dom').configure({ asyncUtilTimeout: 30_000 })
  // jsdom has no media queries: none matches unless a test sets it.
  window.matchMedia = (media) => Object.assign(new EventTarget(), { matches: false, media }) as MediaQueryList
  // jsdom has no layout, so nothing scrolls.
  Element.prototype.scrollIntoView = () => undefined
  // jsdom has no object URLs.
  URL.createObjectURL = () => 'blob:nothing'
  URL.revokeObjectURL = () => undefined
  // jsdom has no layout to observe.
  window.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
}
