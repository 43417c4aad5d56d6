// Not those of the global object, which a test may replace.
import { clearInterval, setInterval } from 'node:timers'

const EVERY_MS = 10
/** A longer gap between two ticks means that the process was suspended. */
const MOST_MS = 50

/** A clock that stands still while the process or the machine is suspended. Stop it at the end. */
export function startAwakeClock(): { /** Milliseconds since the start. */ ms(): number; stop(): void } {
  let [passed, last] = [0, performance.now()]
  function ms(): number {
    const now = performance.now()
    passed += Math.min(now - last, MOST_MS)
    last = now
    return passed
  }
  const timer = setInterval(ms, EVERY_MS)
  return { ms, stop: () => clearInterval(timer) }
}
