/** Fallback for hidden pages, which get no animation frames or lose requested ones. */
const HIDDEN_MS = 500

/** Runs before the next paint, or after HIDDEN_MS if nothing is painted. @returns a function that cancels it */
export function nextFrame(run: () => void): () => void {
  const cancel = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
  const runOnce = () => {
    cancel()
    run()
  }
  const frame = requestAnimationFrame(runOnce)
  const timer = setTimeout(runOnce, HIDDEN_MS)
  return cancel
}
