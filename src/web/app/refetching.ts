import type { Action, ThunkAction } from '@reduxjs/toolkit'
import { QueryStatus, setupListeners } from '@reduxjs/toolkit/query'
import { api } from '../api/api'
import { connected, disconnected } from '../sockets/realtimeSlice'
import { addAppListeners } from './appListeners'
import type { RootState } from './types'

addAppListeners((startListening) => {
  /** Cache keys to refetch once their pending query has finished. */
  const outdated = new Set<string>()
  startListening({
    predicate: isRefusedRefetch,
    // The answer in flight lacks the change, and RTK Query refuses a second concurrent request.
    async effect({ meta: { arg } }, { dispatch, condition }) {
      const { endpointName, originalArgs, queryCacheKey } = arg
      if (outdated.has(queryCacheKey)) return
      outdated.add(queryCacheKey)
      await condition((_, state) => state.api.queries[queryCacheKey]?.status !== QueryStatus.pending)
      outdated.delete(queryCacheKey)
      dispatch(refetchOf(endpointName, originalArgs))
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

type Refetch = Action & {
  meta: {
    condition?: boolean
    arg: { endpointName: string; originalArgs: unknown; queryCacheKey: string; forceRefetch?: boolean }
  }
}

function isRefusedRefetch(action: Action): action is Refetch {
  if (action.type !== 'api/executeQuery/rejected') return false
  const { condition, arg } = (action as Refetch).meta
  return condition === true && arg.forceRefetch === true
}

type AnyQuery = {
  initiate: (
    args: unknown,
    options: { subscribe: boolean; forceRefetch: boolean },
  ) => ThunkAction<unknown, RootState, unknown, Action>
}

const refetchOf = (endpointName: string, args: unknown) =>
  (api.endpoints as Record<string, AnyQuery>)[endpointName]!.initiate(args, { subscribe: false, forceRefetch: true })
