/** A hidden page gets no animation frames, or loses them half-way. In milliseconds. */
const HIDDEN_MS = 500

/** Calls back before the next paint, or soon when nothing is painted. @returns how to call it off. */
export function nextFrame(run: () => void): () => void {
  const stop = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
  const go = () => {
    stop()
    run()
  }
  const frame = requestAnimationFrame(go)
  const timer = setTimeout(go, HIDDEN_MS)
  return stop
}
