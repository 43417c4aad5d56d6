import { EventEmitter } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../errors'
import type { Replicas } from '../../share/replicas'
import type { ConsoleLine, InstanceSpec, Runtime, RuntimeInstance } from '../runtime'
import { HostClient, type HostListener } from './hostClient'
import type { CallName, HostCalls } from './hostProtocol'

/** An instance whose files are being copied: it is starting, and has no process yet. */
interface Preparation {
  instance: RuntimeInstance
  isCancelled: boolean
}

/** Who listens to one console, and the number of the line that is to be heard next. */
interface Follower {
  next: number
  listener: (lines: ConsoleLine[]) => void
}

function hear(follower: Follower | undefined, lines: ConsoleLine[]): void {
  const unheard = lines.filter(({ seq }) => seq >= (follower?.next ?? Infinity))
  const last = unheard.at(-1)
  if (!follower || !last) return
  follower.next = last.seq + 1
  follower.listener(unheard)
}

/**
 * Runs instances as processes of this machine, under a host process that outlives the platform.
 * @param dataDir of the platform; the host is found and started by it.
 * @param replicas where the copies come from.
 * @throws StartError when the host cannot be started.
 */
export async function openLocalRuntime(dataDir: string, replicas: Replicas): Promise<Runtime> {
  const changes = new EventEmitter()
  const onChanged = () => changes.emit('changed')
  const preparations = new Map<string, Preparation>()
  const followers = new Map<string, Follower>()
  let isClosed = false
  const listener: HostListener = {
    changed: onChanged,
    lines: (podName, lines) => hear(followers.get(podName), lines),
    closed: () => void followAgain(),
  }
  let connection = HostClient.open(dataDir, listener)
  const { limits } = await connection

  /** A host that was killed is started again by the next call. */
  async function call<Name extends CallName>(name: Name, ...args: Parameters<HostCalls[Name]>): ReturnType<typeof HostClient.prototype.call<Name>> {
    const known = await connection.catch(() => undefined)
    if (!known?.isOpen) connection = HostClient.open(dataDir, listener)
    return (await connection).call(name, ...args)
  }

  /** After a host that was killed, its successor has the consoles. */
  async function followAgain(): Promise<void> {
    if (isClosed || followers.size === 0) return
    try {
      for (const [podName, follower] of followers) hear(follower, await call('follow', podName, follower.next))
      onChanged()
    } catch {
      setTimeout(() => void followAgain(), 1000)
    }
  }

  const copyOf = (podName: string) => join(dataDir, 'instances', podName)

  async function prepareAndStart(spec: InstanceSpec, preparation: Preparation): Promise<void> {
    try {
      const directory = copyOf(spec.podName)
      await replicas.copyTo(spec.directory, directory)
      if (!preparation.isCancelled) await call('start', { ...spec, directory })
    } catch (error) {
      await call('startFailed', spec.podName, `Could not be started: its files could not be copied${error instanceof AppError ? ` (${error.message})` : ''}.`)
      throw error
    } finally {
      preparations.delete(spec.podName)
      onChanged()
    }
  }

  async function ensure(spec: InstanceSpec): Promise<void> {
    if (!spec.copy) return call('start', spec)
    if (preparations.has(spec.podName)) return
    const instance: RuntimeInstance = { podName: spec.podName, runId: 'preparing', state: 'STARTING', ip: '127.0.0.1', startedAt: Date.now(), exit: undefined }
    const preparation = { instance, isCancelled: false }
    // Before anything is waited for: a second call for it must find it.
    preparations.set(spec.podName, preparation)
    const runs = (await call('list').catch(() => [])).some(({ podName, state }) => podName === spec.podName && state !== 'EXITED')
    if (runs) preparations.delete(spec.podName)
    else await prepareAndStart(spec, preparation)
  }

  /** A start that is being prepared does not come to be. */
  function cancel(podName: string): void {
    const preparation = preparations.get(podName)
    if (preparation) preparation.isCancelled = true
  }

  return {
    limits,
    ensure,
    async stop(podName) {
      cancel(podName)
      await call('stop', podName)
    },
    async kill(podName) {
      cancel(podName)
      await call('kill', podName)
    },
    async remove(podName) {
      if (preparations.has(podName)) return
      await call('remove', podName)
      await rm(copyOf(podName), { recursive: true, force: true })
    },
    async list() {
      const started = await call('list')
      const preparing = [...preparations.values()].map(({ instance }) => instance)
      return [...started.filter(({ podName }) => !preparations.has(podName)), ...preparing]
    },
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    async follow(podName, since, listener) {
      const follower = { next: since, listener }
      followers.set(podName, follower)
      hear(follower, await call('follow', podName, since))
      return () => {
        if (followers.get(podName) !== follower) return
        followers.delete(podName)
        void call('unfollow', podName).catch(() => undefined)
      }
    },
    history: (podName, lines) => call('history', podName, lines),
    note: (podName, text) => call('note', podName, text),
    write: (podName, line) => call('write', podName, line),
    sample: () => call('sample'),
    async close() {
      isClosed = true
      ;(await connection).close()
    },
  }
}
