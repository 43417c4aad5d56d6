/** Longest time that a stalled connection may block an instance's output. */
const MAX_PAUSE_MS = 50
/** Longest time that instances do not wait for a stalled connection. */
const MAX_STALL_MS = 60_000

/**
 * Backpressure: pauses the output of instances that print faster than a connection reads, so that no line is lost. A
 * connection that has not drained after MAX_PAUSE_MS counts as stalled, and instances no longer wait for it, until it
 * drains or the stall ends. The stall doubles each time.
 */
export class BackPressure {
  private readonly paused = new Set<string>()
  private isStalled = false
  private stallMs = MAX_PAUSE_MS
  /** Resumes the output, or ends the stall. */
  private timer: NodeJS.Timeout | undefined

  /** @param setOutputPaused pauses or resumes reading an instance's output. */
  constructor(private readonly setOutputPaused: (podName: string, isPaused: boolean) => void) {}

  /** Call when the connection has buffered too much of this instance. */
  pauseOutput(podName: string): void {
    if (this.isStalled || this.paused.has(podName)) return
    this.paused.add(podName)
    this.setOutputPaused(podName, true)
    this.timer ??= setTimeout(() => this.markStalled(), MAX_PAUSE_MS)
  }

  /** Call when the connection has drained. */
  drained(): void {
    this.isStalled = false
    this.stallMs = MAX_PAUSE_MS
    this.resumeAll()
  }

  /** Call when the connection is closed. */
  close(): void {
    this.resumeAll()
  }

  private resumeAll(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    for (const podName of this.paused) this.setOutputPaused(podName, false)
    this.paused.clear()
  }

  private markStalled(): void {
    this.resumeAll()
    this.isStalled = true
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.isStalled = false
    }, this.stallMs)
    this.stallMs = Math.min(2 * this.stallMs, MAX_STALL_MS)
  }
}
