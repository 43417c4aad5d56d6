import { api } from '../../api/api'
import '../../api/endpoints'

type Mutation = { endpointName?: string; startedTimeStamp?: number }
type ApiState = { api: { mutations: Record<string, Mutation | undefined> } }
type Endpoint = { select: Select; useMutation?: unknown }
type Id = { requestId?: string; fixedCacheKey?: string }
type Select = (id: Id | string) => (state: never) => unknown

/**
 * Makes the mutation hooks show recorded calls. A hook finds its call by the request id, which it knows only if it made
 * the call. A replay makes no calls, so each hook shows the newest call of its endpoint in the state.
 */
export function showMutationsOfLog() {
  for (const [name, endpoint] of Object.entries<Endpoint>(api.endpoints)) {
    if (!endpoint.useMutation) continue
    const own = endpoint.select
    const selectors = new Map<string, ReturnType<Select>>()
    const selectOwn = (requestId: string) => {
      const selector = selectors.get(requestId) ?? own({ requestId })
      selectors.set(requestId, selector)
      return selector
    }
    const selectNewest = (state: ApiState) => {
      const calls = Object.entries(state.api.mutations).filter(([, call]) => call?.endpointName === name)
      const newest = calls.reduce(
        (found, call) => ((call[1]?.startedTimeStamp ?? 0) >= (found?.[1]?.startedTimeStamp ?? 0) ? call : found),
        calls[0],
      )
      return selectOwn(newest?.[0] ?? '')(state as never)
    }
    endpoint.select = (id) => (typeof id === 'object' && id.fixedCacheKey === undefined ? selectNewest : own(id))
  }
}
