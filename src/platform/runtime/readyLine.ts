import { createContext, Script } from 'node:vm'
import { createTokenBucket } from '../concurrency/tokenBucket'
import type { ConsoleLine } from './runtime'

/** CPU time that the matching of a run may use at once. */
const BURST_MS = 200
/** Share of time that it may use after that. Matching blocks all instances and, if they are contained, the platform. */
const SHARE = 1 / 20
/** Attempts per batch of lines: on a busy machine the timeout may pass while this process hardly runs. */
const MAX_ATTEMPTS = 3

/** The console line for the result 'too slow' of `ReadyLine.matches`. */
export const TOO_SLOW_LINE = '[System] The ready expression takes too long to match. The instance counts as ready.'

/** Returns the lines that the program printed, without those of the platform. */
export function printedTexts(lines: Pick<ConsoleLine, 'type' | 'content'>[]): string[] {
  return lines.flatMap(({ type, content }) => (type === 'system' ? [] : [content]))
}

/**
 * Matches a definition's ready expression against the lines of one run. Users write the expression, and it may be slow:
 * for one line (catastrophic backtracking, `^(a+)+$`), or for many lines in total (`^a*a*b`). Its CPU time is therefore
 * limited; V8's timeout interrupts a regular expression within a match.
 */
export class ReadyLine {
  private readonly batch: { lines: string[]; at: number } = { lines: [], at: 0 }
  private readonly context: object
  private readonly script: Script
  private readonly cpuTime = createTokenBucket(BURST_MS, SHARE)

  constructor(expression: string) {
    this.context = createContext({ given: this.batch })
    new Script(`const batch = given, expression = new RegExp(${JSON.stringify(expression)})`).runInContext(this.context)
    // After a timeout, the next attempt continues at the line `batch.at`.
    this.script = new Script(
      'while (batch.at < batch.lines.length && !expression.test(batch.lines[batch.at])) batch.at += 1; batch.at < batch.lines.length',
    )
  }

  /**
   * Matches lines in one call, because each call with a timeout has an overhead of a tenth of a millisecond.
   * @returns whether a line matches
   */
  matches(lines: string[]): boolean | 'too slow' {
    if (lines.length === 0) return false
    Object.assign(this.batch, { lines, at: 0 })
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const budget = this.cpuTime.left()
      if (budget < 1) return 'too slow'
      const startedAt = performance.now()
      const before = process.cpuUsage()
      try {
        return Boolean(this.script.runInContext(this.context, { timeout: Math.floor(budget) }))
      } catch {
        // Timed out. The timeout counts real time, but the budget counts CPU time, so some of it may be left.
      } finally {
        const { user, system } = process.cpuUsage(before)
        this.cpuTime.spend(Math.min(performance.now() - startedAt, (user + system) / 1000))
      }
    }
    return 'too slow'
  }
}
