import { EventEmitter } from 'node:events'
import type { Runtime } from '../runtime'
import { HostClient } from './hostClient'
import type { CallName, HostCalls } from './hostProtocol'

/**
 * Runs instances as processes of this machine, under a host process that outlives the platform.
 * @param dataDir of the platform; the host is found and started by it.
 * @throws StartError when the host cannot be started.
 */
export async function openLocalRuntime(dataDir: string): Promise<Runtime> {
  const changes = new EventEmitter()
  const onChanged = () => changes.emit('changed')
  let connection = HostClient.open(dataDir, onChanged)
  await connection

  /** A host that was killed is started again by the next call. */
  async function call<Name extends CallName>(name: Name, ...args: Parameters<HostCalls[Name]>): ReturnType<typeof HostClient.prototype.call<Name>> {
    const known = await connection.catch(() => undefined)
    if (!known?.isOpen) connection = HostClient.open(dataDir, onChanged)
    return (await connection).call(name, ...args)
  }

  return {
    ensure: (spec) => call('start', spec),
    stop: (podName) => call('stop', podName),
    kill: (podName) => call('kill', podName),
    remove: (podName) => call('remove', podName),
    list: () => call('list'),
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    history: (podName, lines) => call('history', podName, lines),
    note: (podName, text) => call('note', podName, text),
    write: (podName, line) => call('write', podName, line),
    sample: () => call('sample'),
    close: async () => (await connection).close(),
  }
}
