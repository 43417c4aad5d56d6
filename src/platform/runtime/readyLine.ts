import { createContext, Script } from 'node:vm'

/** Far more than matching a line needs. */
const DEADLINE_MS = 100

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
    try {
      return Boolean(this.script.runInContext(this.context, { timeout: DEADLINE_MS }))
    } catch {
      return 'too slow'
    }
  }
}
