type Guard = (event: PopStateEvent) => void

let guard: Guard | undefined

// Loaded with the first chunk, not with the pages that use it: Chromium calls the listeners of the window in the order
// they came, whatever their phase, and this one has to hear of Back and Forward before the router's does.
window.addEventListener('popstate', (event) => guard?.(event), true)

/** Shows every step through the history to `next` before anyone else, until the returned function is called. */
export function guardHistory(next: Guard): () => void {
  guard = next
  return () => {
    if (guard === next) guard = undefined
  }
}
