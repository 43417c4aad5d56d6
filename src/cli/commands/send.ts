import { openConsole } from '../consoleChannel'
import type { Session } from '../session'
import { findInstance } from '../targets'

/** Sends a command to an instance, and waits until it was written to its input. */
export async function send({ terminal, api }: Session, name: string, command: string): Promise<void> {
  const target = await findInstance(api, name)
  const channel = await openConsole(api, target)
  try {
    await channel.request({ type: 'command', command })
  } finally {
    channel.close()
  }
  if (terminal.isJson) terminal.json({ instance: target.podName, sent: true })
}
