import type { ChildProcess } from 'node:child_process'

/** Maximum bytes buffered for an instance that does not read its input. */
const MAX_BUFFERED_BYTES = 2 ** 20
/** Idle timeout of the connection: while it is open, it also receives the entire output. */
const IDLE_MS = 5000

/** Writes lines to an instance's standard input; connects on the first line. */
export class InstanceInput {
  private connection: ChildProcess | undefined
  private timer: NodeJS.Timeout | undefined

  /** @param connect opens a connection to the standard input. */
  constructor(private readonly connect: () => ChildProcess) {}

  /** @returns false if the buffer is full. */
  write(line: string): boolean {
    const stdin = (this.connection ??= this.open()).stdin
    if (!stdin || stdin.destroyed || stdin.writableLength > MAX_BUFFERED_BYTES) return false
    stdin.write(`${line}\n`)
    this.closeWhenIdle()
    return true
  }

  /** Closes the connection after the buffered lines are written. */
  release(): void {
    clearTimeout(this.timer)
    this.connection?.stdin?.end()
    this.connection?.unref()
    this.connection = undefined
  }

  /** Closes the connection at once and drops buffered lines. */
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
