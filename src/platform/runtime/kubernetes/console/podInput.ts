import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import type { ClusterClient } from '../clusterClient'
import { CONTAINER } from '../podSpec'

/** Maximum bytes buffered for an instance that does not read its input. */
const MAX_BUFFERED_BYTES = 2 ** 20
/** Idle timeout of the connection. */
const IDLE_MS = 60_000
/** The number of the standard input among the streams of `v5.channel.k8s.io`. */
const STDIN = 0

/** Writes lines to a Pod's standard input; connects on the first line. */
export class PodInput {
  private connection: Promise<WebSocket> | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly client: ClusterClient,
    private readonly podName: string,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** @returns false if the connection failed or the buffer is full */
  async write(line: string): Promise<boolean> {
    try {
      const socket = await this.connect()
      if (socket.readyState !== socket.OPEN || socket.bufferedAmount > MAX_BUFFERED_BYTES) return false
      socket.send(Buffer.concat([Buffer.of(STDIN), Buffer.from(`${line}\n`)]), () => undefined)
      this.closeWhenIdle()
      return true
    } catch (error) {
      this.log.warn({ err: error, podName: this.podName }, 'failed to write to the input of an instance')
      return false
    }
  }

  close(): void {
    clearTimeout(this.timer)
    const { connection } = this
    this.connection = undefined
    connection?.then(
      (socket) => socket.close(),
      () => undefined,
    )
  }

  private async connect(): Promise<WebSocket> {
    if (this.connection) return this.connection
    const connection = this.client.connectInput(this.podName, CONTAINER)
    const forget = () => {
      if (this.connection === connection) this.connection = undefined
    }
    connection.then((socket) => socket.once('close', forget), forget)
    this.connection = connection
    return connection
  }

  private closeWhenIdle(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.close(), IDLE_MS)
    this.timer.unref()
  }
}
