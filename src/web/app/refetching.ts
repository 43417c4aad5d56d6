import type { Action, ThunkAction } from '@reduxjs/toolkit'
import { QueryStatus, setupListeners } from '@reduxjs/toolkit/query'
import { api } from '../api/api'
import type { ApiFailure } from '../failure'
import { connected, disconnected } from '../sockets/realtimeSlice'
import { addAppListeners } from './appListeners'
import type { RootState } from './types'

const LOST_REQUEST_RETRY_MS = 5_000

addAppListeners((startListening) => {
  /** Cache keys to refetch once their pending query has finished. */
  const outdated = new Set<string>()
  startListening({
    predicate: isRefusedRefetch,
    // The response in flight lacks the change, and RTK Query refuses a second concurrent request.
    async effect({ meta: { arg } }, listener) {
      const { endpointName, originalArgs, queryCacheKey } = arg
      if (outdated.has(queryCacheKey)) return
      outdated.add(queryCacheKey)
      await listener.condition((_, state) => state.api.queries[queryCacheKey]?.status !== QueryStatus.pending)
      outdated.delete(queryCacheKey)
      // The end of the session has removed it.
      if (listener.getState().api.queries[queryCacheKey] === undefined) return
      listener.dispatch(refetchOf(endpointName, originalArgs))
    },
  })

  /** Cache keys of lost queries that wait for their retry. */
  const waiting = new Set<string>()
  startListening({
    predicate: isLostQuery,
    // A request can be lost while the socket stays connected, for example when the device changes its network.
    async effect({ meta: { arg } }, listener) {
      const { endpointName, originalArgs, queryCacheKey } = arg
      if (waiting.has(queryCacheKey)) return
      waiting.add(queryCacheKey)
      await listener.delay(LOST_REQUEST_RETRY_MS)
      waiting.delete(queryCacheKey)
      const { queries, subscriptions } = listener.getState().api
      const isShown = Object.keys(subscriptions[queryCacheKey] ?? {}).length > 0
      if (isShown && queries[queryCacheKey]?.status === QueryStatus.rejected) {
        listener.dispatch(refetchOf(endpointName, originalArgs))
      }
    },
  })

  startListening({
    actionCreator: disconnected,
    async effect(_action, listener) {
      listener.cancelActiveListeners()
      await listener.take(connected.match)
      // Events were missed during the outage, and failed calls may succeed now. RTK Query refetches all subscribed
      // data, as it does when the browser comes online.
      setupListeners(listener.dispatch, (dispatch, { onOnline }) => {
        dispatch(onOnline())
        return () => {}
      })
    },
  })
})

type RejectedQuery = Action & {
  payload?: ApiFailure
  meta: {
    condition?: boolean
    arg: { endpointName: string; originalArgs: unknown; queryCacheKey: string; forceRefetch?: boolean }
  }
}

const isRejectedQuery = (action: Action): action is RejectedQuery => action.type === 'api/executeQuery/rejected'

function isRefusedRefetch(action: Action): action is RejectedQuery {
  return isRejectedQuery(action) && action.meta.condition === true && action.meta.arg.forceRefetch === true
}

function isLostQuery(action: Action): action is RejectedQuery {
  return isRejectedQuery(action) && action.payload?.status === 'UNREACHABLE'
}

type AnyQuery = {
  initiate: (
    args: unknown,
    options: { subscribe: boolean; forceRefetch: boolean },
  ) => ThunkAction<unknown, RootState, unknown, Action>
}

const refetchOf = (endpointName: string, args: unknown) =>
  (api.endpoints as Record<string, AnyQuery>)[endpointName]!.initiate(args, { subscribe: false, forceRefetch: true })
