import { createContext, Script } from 'node:vm'
import type { ConsoleLine } from './runtime'

/** Time for matching that a run may use at once, in milliseconds. */
const BURST_MS = 200
/** The share of time that it may use from then on. Matching blocks all instances and, where they are contained, the platform. */
const SHARE = 1 / 20
/** How often lines are tried on a machine so busy that this process hardly runs until the timeout. */
const TRIES = 3

/** Returns the lines that the program printed, without those of the platform. */
export function printedTexts(lines: Pick<ConsoleLine, 'type' | 'content'>[]): string[] {
  return lines.flatMap(({ type, content }) => (type === 'system' ? [] : [content]))
}

/**
 * A definition's ready expression, for the lines of one run. Users write it, and it may take long: for one line
 * (catastrophic backtracking, `^(a+)+$`), or in the sum of many (`^a*a*b`). Its time is therefore limited, within one
 * match by V8's timeout, which applies to regular expressions too.
 */
export class ReadyLine {
  private readonly batch: { lines: string[]; at: number } = { lines: [], at: 0 }
  private readonly context: object
  private readonly script: Script
  private budget = BURST_MS
  private updatedAt = performance.now()

  constructor(expression: string) {
    this.context = createContext({ given: this.batch })
    new Script(`const batch = given, expression = new RegExp(${JSON.stringify(expression)})`).runInContext(this.context)
    // `batch.at` lets a further try continue with the line that was not finished.
    this.script = new Script(
      'while (batch.at < batch.lines.length && !expression.test(batch.lines[batch.at])) batch.at += 1; batch.at < batch.lines.length',
    )
  }

  /**
   * Matches lines together: each call with a timeout takes a tenth of a millisecond by itself.
   * @returns whether one of them matches
   */
  matches(lines: string[]): boolean | 'too slow' {
    if (lines.length === 0) return false
    Object.assign(this.batch, { lines, at: 0 })
    for (let tries = 0; tries < TRIES; tries += 1) {
      this.refill()
      if (this.budget < 1) return 'too slow'
      const startedAt = performance.now()
      const before = process.cpuUsage()
      try {
        return Boolean(this.script.runInContext(this.context, { timeout: Math.floor(this.budget) }))
      } catch {
        // The timeout. It is measured by the clock, the time used by the processor.
      } finally {
        const { user, system } = process.cpuUsage(before)
        this.budget -= Math.min(performance.now() - startedAt, (user + system) / 1000)
      }
    }
    return 'too slow'
  }

  private refill(): void {
    const now = performance.now()
    this.budget = Math.min(BURST_MS, this.budget + (now - this.updatedAt) * SHARE)
    this.updatedAt = now
  }
}
