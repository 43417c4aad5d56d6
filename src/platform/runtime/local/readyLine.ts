import { createContext, Script } from 'node:vm'

/** Far more than a line needs. In milliseconds. */
const DEADLINE_MS = 100

/**
 * A definition's ready expression. Users write it, and one that backtracks without end (`^(a+)+$`) would hold the host of
 * all instances: so it is matched with a deadline, which V8 keeps within a regular expression too.
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
