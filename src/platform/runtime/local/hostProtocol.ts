import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { ConsoleLine, InstanceSpec, RuntimeInstance, Usage } from '../runtime'

/** Raised with every change that an older side would misread. */
export const PROTOCOL_VERSION = 1

/** What the platform asks of the host: JSON lines over the unix socket, each request with an id that its answer repeats. */
export interface HostCalls {
  hello(): { version: number; pid: number; limits: string }
  /** Runs it in `spec.directory` as it is: copies are the platform's work. */
  start(spec: InstanceSpec): void
  /** Notes that a start failed before there was a process to run. */
  startFailed(podName: string, failure: string): void
  stop(podName: string): void
  kill(podName: string): void
  remove(podName: string): void
  list(): RuntimeInstance[]
  history(podName: string, lines: number): ConsoleLine[]
  note(podName: string, text: string): void
  write(podName: string, line: string): void
  sample(): Usage[]
  /** Ends every instance gracefully, then the host; answered when all have ended. */
  shutdown(): Promise<void>
}

export type CallName = keyof HostCalls

export interface HostRequest {
  id: number
  call: CallName
  args: unknown[]
}

export type HostMessage = { id: number; result: unknown } | { id: number; error: string } | { event: 'changed' }

/** Writes one message as a line. */
export function sendLine(socket: Socket, message: HostRequest | HostMessage): void {
  socket.write(`${JSON.stringify(message)}\n`)
}

/** Calls back for every line of the other side. A line that is no JSON ends the connection. */
export function onLines(socket: Socket, listener: (message: unknown) => void): void {
  const lines = createInterface(socket)
  // The socket's own listeners deal with its end; the interface repeats its errors.
  lines.on('error', () => undefined)
  lines.on('line', (line) => {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      socket.destroy()
      return
    }
    listener(message)
  })
}
