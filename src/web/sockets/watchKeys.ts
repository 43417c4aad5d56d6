/** @returns a function that tells how long ago a key was last pressed anywhere on the page, in milliseconds. */
export function watchKeys(): () => number {
  let pressedAt = -Infinity
  addEventListener('keydown', () => (pressedAt = performance.now()), { capture: true, passive: true })
  return () => performance.now() - pressedAt
}
