import { createContext, Script } from 'node:vm'

/** Far more than matching a line needs. */
const DEADLINE_MS = 100
/** How often a line is tried on a machine so busy that this process hardly runs until the deadline. */
const TRIES = 5

/**
 * A definition's ready expression. Users write it, and one with catastrophic backtracking (`^(a+)+$`) would block the
 * host of all instances. It is therefore matched with a timeout, which V8 applies within a regular expression too.
 */
export class ReadyLine {
  private readonly context: { line: string }
  private readonly script: Script

  constructor(expression: string) {
    this.context = createContext({ line: '' }) as { line: string }
    this.script = new Script(`new RegExp(${JSON.stringify(expression)}).test(line)`)
  }

  matches(line: string): boolean | 'too slow' {
    this.context.line = line
    for (let tries = 0; tries < TRIES; tries++) {
      const before = process.cpuUsage()
      try {
        return Boolean(this.script.runInContext(this.context, { timeout: DEADLINE_MS }))
      } catch {
        const { user, system } = process.cpuUsage(before)
        if ((user + system) / 1000 > DEADLINE_MS / 2) return 'too slow'
      }
    }
    return 'too slow'
  }
}
