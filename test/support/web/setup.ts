import '@testing-library/jest-dom'

// jsdom has no media queries: nothing matches, unless a test says so.
if (typeof window !== 'undefined') {
  window.matchMedia = (media) => Object.assign(new EventTarget(), { matches: false, media }) as MediaQueryList
}
