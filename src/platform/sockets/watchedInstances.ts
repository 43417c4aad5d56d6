import type { WebSocket } from 'ws'
import type { InstanceState } from '../../contract/instance'
import type { Runtime } from '../runtime/runtime'
import type { Caller } from '../caller'
import { ConsoleFeed } from './consoleFeed'

export type ViewerUser = Caller & { address: string }

/** An instance with viewers. */
export interface WatchedInstance {
  deployment: string
  podName: string
  feed: ConsoleFeed
  viewers: Map<WebSocket, ViewerUser>
  /** Connections that are being opened. */
  connecting: number
  /** The last state that viewers were sent. */
  state: InstanceState | undefined
}

/** The instances whose consoles are open. All viewers of an instance share one feed. */
export class WatchedInstances {
  private readonly byPodName = new Map<string, WatchedInstance>()

  constructor(private readonly runtime: Runtime) {}

  /** Opens the feed of the instance if it has no viewers. Call `release` if no viewer joins. */
  watch(deployment: string, podName: string, state: InstanceState): WatchedInstance {
    const instance = this.byPodName.get(podName) ?? {
      deployment,
      podName,
      feed: new ConsoleFeed(this.runtime, podName),
      viewers: new Map<WebSocket, ViewerUser>(),
      connecting: 0,
      state,
    }
    this.byPodName.set(podName, instance)
    return instance
  }

  /** Closes the feed after the last viewer. */
  release(instance: WatchedInstance): void {
    const { viewers, connecting, podName } = instance
    if (viewers.size > 0 || connecting > 0 || this.byPodName.get(podName) !== instance) return
    this.byPodName.delete(podName)
    instance.feed.close()
  }

  list(): WatchedInstance[] {
    return [...this.byPodName.values()]
  }

  viewers(): [WebSocket, ViewerUser][] {
    return this.list().flatMap(({ viewers }) => [...viewers])
  }
}
