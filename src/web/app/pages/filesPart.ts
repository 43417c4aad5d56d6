import { addListener } from '@reduxjs/toolkit'
import { QueryStatus } from '@reduxjs/toolkit/query'
import { filesApi } from '../../api/files'
import { failureReason, reportProblem } from '../../api/reportProblem'
import { pageShown } from '../../facts'
import { filesSlice } from '../../features/files/filesSlice'
import { selectionSlice } from '../../features/files/selectionSlice'
import { sendUpload as sendByRequest } from '../../features/files/uploads/sendUpload'
import { createUploadQueue } from '../../features/files/uploads/uploadQueue'
import { uploadSlice } from '../../features/files/uploads/uploadSlice'
import { archiveJobsSlice } from '../../features/files/archiveJobsSlice'
import { messageReceived } from '../../sockets/realtimeSlice'
import type { Part } from './part'
import type { AppDispatch, AppStore, RootState, Services } from '../types'

const addFilesListener = addListener.withTypes<RootState, AppDispatch, Services>()
const { getFiles } = filesApi.endpoints

export const filesPart: Part<'files' | 'selection' | 'uploads' | 'works'> = {
  reducers: {
    files: filesSlice.reducer,
    selection: selectionSlice.reducer,
    uploads: uploadSlice.reducer,
    works: archiveJobsSlice.reducer,
  },
  middleware: ({ sendUpload = sendByRequest, connectConsole: _, ...services }) =>
    createUploadQueue(sendUpload, services),
  begin,
}

function begin({ dispatch }: Pick<AppStore, 'dispatch'>) {
  dispatch(
    addFilesListener({
      predicate: (action) => pageShown.match(action) || isSyncEnd(action),
      async effect(_action, listener) {
        // Debounced: a later event replaces this one.
        listener.cancelActiveListeners()
        await listener.delay(SYNC_DEBOUNCE_MS)
        const directory = listener.getState().files?.directory
        if (!directory || document.visibilityState === 'hidden') return
        const statusOf = (state: RootState) => getFiles.select(directory)(state).status
        // The answer in-flight predates the change, and RTK Query refuses a second request beside it.
        if (statusOf(listener.getState()) === QueryStatus.pending)
          await listener.condition((_, state) => statusOf(state) !== QueryStatus.pending)
        const isLeft = listener.getState().files?.directory !== directory
        if (isLeft || statusOf(listener.getState()) === QueryStatus.uninitialized) return
        await listener.dispatch(getFiles.initiate(directory, { subscribe: false, forceRefetch: true }))
      },
    }),
  )
  dispatch(
    addFilesListener({
      matcher: getFiles.matchRejected,
      // The page keeps showing the previous listing (product §8).
      effect({ payload, meta }, { dispatch }) {
        if (!meta.condition && !meta.aborted)
          dispatch(reportProblem(`Failed to load files of ${meta.arg.originalArgs}`, failureReason(payload)))
      },
    }),
  )
}

/** Debounce: several directories often finish syncing together. */
const SYNC_DEBOUNCE_MS = 250

const isSyncEnd = (action: unknown) =>
  messageReceived.match(action) &&
  action.payload.id === 'CLIENT_FILE_SYNC' &&
  (action.payload.data as { event?: unknown } | undefined)?.event === 'sync_completed'
