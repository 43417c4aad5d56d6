/** A platform that stands still must not hold an instance for long. In milliseconds. */
const HOLD_MS = 50
const LONGEST_PAUSE_MS = 60_000

/**
 * Lets instances that print faster than a connection takes it wait, so that lines come soon and none is lost: for a
 * moment. A connection that has not taken everything by then counts as standing still, and nobody waits for it until a
 * pause is over, longer each time, or it has taken everything.
 */
export class BackPressure {
  private readonly held = new Set<string>()
  private isStalled = false
  private pauseMs = HOLD_MS
  /** Of the moment, or of the pause. */
  private timer: NodeJS.Timeout | undefined

  /** @param holdOutput stops reading what an instance prints, or goes on with it. */
  constructor(private readonly holdOutput: (podName: string, isHeld: boolean) => void) {}

  /** The connection has more than enough of this instance. */
  hold(podName: string): void {
    if (this.isStalled || this.held.has(podName)) return
    this.held.add(podName)
    this.holdOutput(podName, true)
    this.timer ??= setTimeout(() => this.stall(), HOLD_MS)
  }

  /** The connection has taken everything. */
  drained(): void {
    this.isStalled = false
    this.pauseMs = HOLD_MS
    this.letGo()
  }

  /** The connection is gone. */
  close(): void {
    this.letGo()
  }

  private letGo(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    for (const podName of this.held) this.holdOutput(podName, false)
    this.held.clear()
  }

  private stall(): void {
    this.letGo()
    this.isStalled = true
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.isStalled = false
    }, this.pauseMs)
    this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS)
  }
}
