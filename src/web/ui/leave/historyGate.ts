type Guard = (event: PopStateEvent) => void

let guard: Guard | undefined

// Part of the first chunk: Chromium calls the listeners of the window in order of registration, whatever their phase,
// and this one has to handle Back and Forward before the router's.
window.addEventListener('popstate', (event) => guard?.(event), true)

/** Passes every history navigation to `next` before the router sees it. Returns a function that removes it. */
export function guardHistory(next: Guard): () => void {
  guard = next
  return () => {
    if (guard === next) guard = undefined
  }
}
