import { QueryStatus } from '@reduxjs/toolkit/query'
import { filesApi } from '../../api/files'
import { failureReason, reportProblem } from '../../api/reportProblem'
import { addAppListeners } from '../../app/appListeners'
import type { RootState } from '../../app/types'
import type { ApiFailure } from '../../failure'
import { pageShown } from '../../facts'
import { messageReceived } from '../../sockets/realtimeSlice'
import { densityChosen, densityLoaded, directoryOpened, DENSITY_KEY, isDensity } from './filesSlice'

const { getFiles } = filesApi.endpoints

/** Debounce: several directories often finish syncing together. */
const SYNC_DEBOUNCE_MS = 250

const isSyncEnd = (action: unknown) =>
  messageReceived.match(action) &&
  action.payload.id === 'CLIENT_FILE_SYNC' &&
  (action.payload.data as { event?: unknown } | undefined)?.event === 'sync_completed'

addAppListeners((startListening) => {
  startListening({
    predicate: (action) => pageShown.match(action) || isSyncEnd(action),
    async effect(action, listener) {
      const wasSynced = listener.getOriginalState().realtime.filesSynced
      // Debounced: a later event replaces this one.
      listener.cancelActiveListeners()
      await listener.delay(SYNC_DEBOUNCE_MS)
      const directory = listener.getState().files?.directory
      if (!directory || document.visibilityState === 'hidden') return
      const statusOf = (state: RootState) => getFiles.select(directory)(state).status
      const isMissing = () => (getFiles.select(directory)(listener.getState()).error as ApiFailure)?.status === 404
      // The response in flight predates the change, and RTK Query refuses a second concurrent request.
      if (statusOf(listener.getState()) === QueryStatus.pending)
        await listener.condition((_, state) => statusOf(state) !== QueryStatus.pending)
      const isLeft = listener.getState().files?.directory !== directory
      if (isLeft || statusOf(listener.getState()) === QueryStatus.uninitialized) return
      // A new connection is told the present state. That does not bring a directory that is missing.
      if (isSyncEnd(action) && wasSynced && isMissing()) return
      await listener.dispatch(getFiles.initiate(directory, { subscribe: false, forceRefetch: true }))
    },
  })

  startListening({
    actionCreator: directoryOpened,
    effect(_action, listener) {
      // Later on, the state holds what the user chose in this page.
      listener.unsubscribe()
      const density = listener.extra.storage.getItem(DENSITY_KEY)
      if (isDensity(density)) listener.dispatch(densityLoaded(density))
    },
  })

  startListening({
    actionCreator: densityChosen,
    effect: ({ payload }, { extra: { storage } }) => storage.setItem(DENSITY_KEY, payload),
  })

  startListening({
    matcher: getFiles.matchRejected,
    // The page keeps showing the previous listing (product §8).
    effect({ payload, meta }, { dispatch }) {
      if (!meta.condition && !meta.aborted)
        dispatch(reportProblem(`Failed to load files of ${meta.arg.originalArgs}`, failureReason(payload)))
    },
  })
})
