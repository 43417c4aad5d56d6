import { EventEmitter } from 'node:events'
import { AppError } from '../../errors'
import { withCopies, type CopyParts, type Driver } from '../copies'
import type { ConsoleLine, Runtime } from '../runtime'
import { HostClient, type HostListener } from './hostClient'
import { IN_PIECES, type CallName, type HostCalls } from './hostProtocol'

/** Who listens to one console, and the number of the line that is to be heard next. */
interface Follower {
  next: number
  listener: (lines: ConsoleLine[]) => void
  /** New lines that came before the answer with the old ones; undefined once that was heard. */
  early: ConsoleLine[] | undefined
}

/** Hears the answer to `follow`, then what overtook it. */
function hearAnswer(follower: Follower, lines: ConsoleLine[]): void {
  const early = follower.early ?? []
  follower.early = undefined
  hear(follower, lines)
  hear(follower, early)
}

function hear(follower: Follower | undefined, lines: ConsoleLine[]): void {
  if (follower?.early) {
    follower.early.push(...lines)
    return
  }
  const unheard = lines.filter(({ seq }) => seq >= (follower?.next ?? Infinity))
  const last = unheard.at(-1)
  if (!follower || !last) return
  follower.next = last.seq + 1
  follower.listener(unheard)
}

/**
 * Runs instances as processes of this machine, under a host process that outlives the platform.
 * @param copyParts the host is found and started by its `dataDir`.
 * @throws StartError when the host cannot be started.
 */
export async function openLocalRuntime(copyParts: CopyParts): Promise<Runtime> {
  const { dataDir } = copyParts
  const changes = new EventEmitter()
  const onChanged = () => changes.emit('changed')
  const followers = new Map<string, Follower>()
  let isClosed = false
  const listener: HostListener = {
    changed: onChanged,
    lines: (podName, lines) => hear(followers.get(podName), lines),
    closed: () => void followAgain(),
  }
  let connection = HostClient.open(dataDir, listener)
  let opening: Promise<unknown> | undefined
  const { limits, enforced } = await connection

  /** A host that was killed is started again by the next call. */
  async function call<Name extends CallName>(
    name: Name,
    ...args: Parameters<HostCalls[Name]>
  ): ReturnType<typeof HostClient.prototype.call<Name>> {
    const known = await connection.catch(() => undefined)
    if (isClosed) throw new AppError('UNAVAILABLE', 'The platform is being stopped.')
    if (!known?.isOpen && !opening) {
      connection = HostClient.open(dataDir, listener)
      opening = connection.catch(() => undefined).finally(() => (opening = undefined))
    }
    const opened = await connection.catch((error: unknown) => {
      // What it says is for the log: it names paths of this machine.
      throw Object.assign(
        new AppError(
          'UNAVAILABLE',
          'The process that runs the instances cannot be started. It is tried again with the next call; the log says why.',
        ),
        { cause: error },
      )
    })
    return opened.call(name, ...args)
  }

  /** After a host that was killed, its successor has the consoles. */
  async function followAgain(): Promise<void> {
    if (isClosed || followers.size === 0) return
    try {
      for (const [podName, follower] of followers) {
        follower.early = []
        const lines = await call('follow', podName, follower.next, IN_PIECES)
        if (followers.get(podName) === follower) hearAnswer(follower, lines)
        // It was given up meanwhile.
        else if (!followers.has(podName)) await call('unfollow', podName)
      }
      onChanged()
    } catch {
      setTimeout(() => void followAgain(), 1000)
    }
  }

  const driver: Driver = {
    isolation: 'plain',
    limits,
    enforced,
    ensure: (spec) => call('start', spec),
    startFailed: ({ podName }, failure) => call('startFailed', podName, failure),
    stop: (podName) => call('stop', podName),
    kill: (podName) => call('kill', podName),
    remove: (podName) => call('remove', podName),
    list: () => call('list'),
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    async follow(podName, since, listener) {
      const follower: Follower = { next: since, listener, early: [] }
      followers.set(podName, follower)
      const forget = () => followers.get(podName) === follower && followers.delete(podName)
      const lines = await call('follow', podName, since, IN_PIECES).catch((error: unknown) => {
        forget()
        throw error
      })
      hearAnswer(follower, lines)
      return () => {
        if (forget()) void call('unfollow', podName).catch(() => undefined)
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
