import { HostClient } from '../../../src/platform/runtime/local/hostClient'

/** Ends every instance of a data directory, and their host. */
export async function stopHost(dataDir: string): Promise<void> {
  const host = await HostClient.connect(dataDir)
  await host?.call('shutdown')
  host?.close()
}
