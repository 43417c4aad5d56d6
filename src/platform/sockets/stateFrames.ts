import type { InstanceState } from '../../contract/instance'
import { createSharedRead } from '../concurrency/sharedRead'
import type { Runtime } from '../runtime/runtime'
import type { WatchedInstances } from './watchedInstances'

/** Poll interval for state changes that the runtime does not report, such as a blocked instance. */
const STATE_CHECK_MS = 1000

/**
 * Sends viewers the state of their instance when it changes.
 * @param instanceState the present state; undefined if the instance is gone
 * @returns a function that stops the checks
 */
export function broadcastStates(
  watched: WatchedInstances,
  runtime: Pick<Runtime, 'watch'>,
  instanceState: (deployment: string, podName: string) => Promise<InstanceState | undefined>,
): () => void {
  async function sendChangedStates(): Promise<void> {
    for (const instance of watched.list()) {
      const state = await instanceState(instance.deployment, instance.podName)
      if (state === undefined || state === instance.state) continue
      instance.state = state
      instance.feed.broadcast({ type: 'power', content: state })
    }
  }

  // One check at a time, so that an older state is never sent after a newer one.
  const sendInTurn = createSharedRead(sendChangedStates)
  // The database may be unavailable for a moment. The next check follows soon.
  const check = () => void sendInTurn().catch(() => undefined)
  const timer = setInterval(check, STATE_CHECK_MS)
  const unwatch = runtime.watch(check)
  return () => {
    clearInterval(timer)
    unwatch()
  }
}
