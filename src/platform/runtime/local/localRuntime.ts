import { EventEmitter } from 'node:events'
import { AppError } from '../../errors'
import { withCopies, type CopyParts } from '../copies'
import { markCopy } from '../copyMarker'
import type { ConsoleLine, Driver, LocalSpec, Runtime } from '../runtime'
import { HostClient, type HostListener } from './hostClient'
import { IN_PIECES, type CallName, type HostCalls } from './hostProtocol'

interface Subscription {
  next: number
  listener: (lines: ConsoleLine[]) => void
  /** New lines that arrived before the response with the stored ones; undefined after that. */
  buffered: ConsoleLine[] | undefined
}

/** Delivers the response to `follow`, then the lines that arrived before it. */
function deliverFirst(subscription: Subscription, lines: ConsoleLine[]): void {
  const buffered = subscription.buffered ?? []
  subscription.buffered = undefined
  deliver(subscription, lines)
  deliver(subscription, buffered)
}

function deliver(subscription: Subscription | undefined, lines: ConsoleLine[]): void {
  if (subscription?.buffered) {
    subscription.buffered.push(...lines)
    return
  }
  const unseen = lines.filter(({ seq }) => seq >= (subscription?.next ?? Infinity))
  const last = unseen.at(-1)
  if (!subscription || !last) return
  subscription.next = last.seq + 1
  subscription.listener(unseen)
}

/**
 * Runs instances as local processes, under a host process that outlives the platform.
 * @param copyParts the host belongs to its `dataDir`.
 * @throws StartError if the host cannot be started.
 */
export async function openLocalRuntime(copyParts: CopyParts): Promise<Runtime<LocalSpec>> {
  const { dataDir } = copyParts
  const changes = new EventEmitter()
  const emitChange = () => changes.emit('changed')
  const subscriptions = new Map<string, Subscription>()
  let isClosed = false
  const listener: HostListener = {
    changed: emitChange,
    lines: (podName, lines) => deliver(subscriptions.get(podName), lines),
    closed: () => void resubscribe(),
  }
  let connection = HostClient.open(dataDir, listener)
  let opening: Promise<unknown> | undefined
  const { limits, enforced } = await connection

  /** Calls the host; if it was killed, starts a new one first. */
  async function call<Name extends CallName>(
    name: Name,
    ...args: Parameters<HostCalls[Name]>
  ): ReturnType<typeof HostClient.prototype.call<Name>> {
    const known = await connection.catch(() => undefined)
    if (isClosed) throw new AppError('UNAVAILABLE', 'The platform is being stopped.')
    if (!known?.isOpen && !opening) {
      connection = HostClient.open(dataDir, listener)
      // Instances may have ended before the connection to the new host was open.
      opening = connection.then(emitChange, () => undefined).finally(() => (opening = undefined))
    }
    const opened = await connection.catch((error: unknown) => {
      // The cause is only for the log: it names paths of this machine.
      throw Object.assign(
        new AppError(
          'UNAVAILABLE',
          'The process that runs the instances could not be started. Try again, and see the platform’s log for the reason.',
        ),
        { cause: error },
      )
    })
    return opened.call(name, ...args)
  }

  /** Subscribes to the consoles again after the host was killed; its successor has them. */
  async function resubscribe(): Promise<void> {
    if (isClosed || subscriptions.size === 0) return
    try {
      for (const [podName, subscription] of subscriptions) {
        subscription.buffered = []
        const lines = await call('follow', podName, subscription.next, IN_PIECES)
        if (subscriptions.get(podName) === subscription) deliverFirst(subscription, lines)
        // The subscription was cancelled during the call.
        else if (!subscriptions.has(podName)) await call('unfollow', podName)
      }
      emitChange()
    } catch {
      setTimeout(() => void resubscribe(), 1000)
    }
  }

  const driver: Driver = {
    isolation: 'plain',
    sharesPorts: true,
    usesReplicas: true,
    limits,
    enforced,
    async ensure(spec) {
      await markCopy(spec.copyMarker)
      await call('start', spec)
    },
    startFailed: ({ podName }, failure, isTemporary) => call('startFailed', podName, failure, isTemporary),
    stop: (podName) => call('stop', podName),
    kill: (podName) => call('kill', podName),
    remove: (podName) => call('remove', podName),
    list: () => call('list'),
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    async follow(podName, since, listener) {
      const subscription: Subscription = { next: since, listener, buffered: [] }
      subscriptions.set(podName, subscription)
      const removeSubscription = () => subscriptions.get(podName) === subscription && subscriptions.delete(podName)
      const lines = await call('follow', podName, since, IN_PIECES).catch((error: unknown) => {
        removeSubscription()
        throw error
      })
      deliverFirst(subscription, lines)
      return () => {
        if (removeSubscription()) void call('unfollow', podName).catch(() => undefined)
      }
    },
    history: (podName, lines) => call('history', podName, lines, IN_PIECES),
    note: (podName, text) => call('note', podName, text),
    write: (podName, line) => call('write', podName, line),
    sample: () => call('sample'),
    async close() {
      isClosed = true
      ;(await connection).close()
    },
  }
  return withCopies(driver, copyParts)
}
