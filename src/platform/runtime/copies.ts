import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../errors'
import type { Replicas } from '../share/replicas'
import type { InstanceSpec, Runtime, RuntimeInstance } from './runtime'

/** What runs instances of this machine in their directory as it is; `withCopies` adds the copies. */
export interface Driver extends Runtime {
  /** Notes that a start failed before there was anything to run. */
  startFailed(spec: InstanceSpec, failure: string): Promise<void>
}

/** An instance whose files are being copied: it is starting, and has no process yet. */
interface Preparation {
  instance: RuntimeInstance
  cancel: AbortController
}

/** Makes the copies of those instances whose specification asks for one, before the driver starts them. */
export function withCopies(driver: Driver, { dataDir, replicas }: { dataDir: string; replicas: Replicas }): Runtime {
  const changes = new EventEmitter()
  const onChanged = () => changes.emit('changed')
  const preparations = new Map<string, Preparation>()
  const unwatch = driver.watch(onChanged)
  const copyOf = (podName: string) => join(dataDir, 'instances', podName)

  async function prepareAndStart(spec: InstanceSpec, { cancel: { signal } }: Preparation): Promise<void> {
    try {
      const directory = copyOf(spec.podName)
      const failure = await replicas.copyTo(spec.directory, directory, signal).then(() => undefined, (error: unknown) => ({ error }))
      if (signal.aborted) return
      if (!failure) return await driver.ensure({ ...spec, directory: await realpath(directory), copy: false })
      const { error } = failure
      await driver.startFailed(spec, `Could not be started: its files could not be copied${error instanceof AppError ? ` (${error.message})` : ''}.`)
      throw error
    } finally {
      preparations.delete(spec.podName)
      onChanged()
    }
  }

  const cancel = (podName: string) => preparations.get(podName)?.cancel.abort()

  return {
    ...driver,
    async ensure(spec) {
      if (!spec.copy) return driver.ensure(spec)
      if (preparations.has(spec.podName)) return
      const instance: RuntimeInstance = { podName: spec.podName, runId: randomUUID(), state: 'STARTING', ip: '127.0.0.1', port: spec.port, startedAt: Date.now(), exit: undefined }
      const preparation = { instance, cancel: new AbortController() }
      // Before the first wait: a second call must find it.
      preparations.set(spec.podName, preparation)
      const isRunning = (await driver.list().catch(() => [])).some(({ podName, state }) => podName === spec.podName && state !== 'EXITED')
      if (isRunning) preparations.delete(spec.podName)
      else await prepareAndStart(spec, preparation)
    },
    async stop(podName) {
      cancel(podName)
      await driver.stop(podName)
    },
    async kill(podName) {
      cancel(podName)
      await driver.kill(podName)
    },
    async remove(podName) {
      if (preparations.has(podName)) return
      await driver.remove(podName)
      await rm(copyOf(podName), { recursive: true, force: true })
    },
    async list() {
      const started = await driver.list()
      const preparing = [...preparations.values()].map(({ instance }) => instance)
      return [...started.filter(({ podName }) => !preparations.has(podName)), ...preparing]
    },
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    async close() {
      unwatch()
      for (const { cancel: controller } of preparations.values()) controller.abort()
      await driver.close()
    },
  }
}
