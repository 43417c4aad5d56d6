import type { ChildProcess } from 'node:child_process'

/** What waits at most for an instance that does not read its input. In bytes. */
const INPUT_LIMIT = 2 ** 20
/** The connection is closed when nothing was written for this long: while it is open, it also gets the whole output. In milliseconds. */
const IDLE_MS = 5000

/** Writes lines to an instance's standard input, through a connection that is opened with the first line. */
export class InstanceInput {
  private connection: ChildProcess | undefined
  private timer: NodeJS.Timeout | undefined

  /** @param connect opens a connection to the standard input. */
  constructor(private readonly connect: () => ChildProcess) {}

  /** @returns false when the instance has not read what was written before. */
  write(line: string): boolean {
    const stdin = (this.connection ??= this.open()).stdin
    if (!stdin || stdin.destroyed || stdin.writableLength > INPUT_LIMIT) return false
    stdin.write(`${line}\n`)
    this.closeWhenIdle()
    return true
  }

  /** Closes the connection once it has passed on what was written. */
  release(): void {
    clearTimeout(this.timer)
    this.connection?.stdin?.end()
    this.connection?.unref()
    this.connection = undefined
  }

  /** Closes the connection at once: nobody reads what was written. */
  close(): void {
    clearTimeout(this.timer)
    this.connection?.stdin?.destroy()
    this.connection?.kill('SIGKILL')
    this.connection = undefined
  }

  private open(): ChildProcess {
    const connection = this.connect()
    const forget = () => {
      if (this.connection === connection) this.connection = undefined
    }
    connection.on('error', forget)
    connection.on('exit', forget)
    connection.stdin?.on('error', forget)
    return connection
  }

  private closeWhenIdle(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      if (this.connection?.stdin?.writableLength === 0) {
        this.connection.stdin.end()
        this.connection = undefined
      } else if (this.connection) this.closeWhenIdle()
    }, IDLE_MS)
    this.timer.unref()
  }
}
