import pino from 'pino'
import { stopContainedInstances } from '../../../src/platform/runtime/contained/containedRuntime'
import { HostClient } from '../../../src/platform/runtime/local/hostClient'

/** Stops every instance of a data directory, contained or plain, and the host. */
export async function stopHost(dataDir: string): Promise<void> {
  const host = await HostClient.connect(dataDir)
  await host?.call('shutdown')
  host?.close()
  await stopContainedInstances(dataDir, pino({ level: 'silent' }), () => undefined)
}
