import pino from 'pino'
import { stopContainedInstances } from '../../../src/platform/runtime/contained/containedRuntime'
import { HostClient } from '../../../src/platform/runtime/local/hostClient'

/** Ends every instance of a data directory, in containers and under a host, and the host. */
export async function stopHost(dataDir: string): Promise<void> {
  const host = await HostClient.connect(dataDir)
  await host?.call('shutdown')
  host?.close()
  await stopContainedInstances(dataDir, pino({ level: 'silent' }), () => undefined)
}
