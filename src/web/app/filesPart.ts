import { addListener } from '@reduxjs/toolkit'
import { QueryStatus } from '@reduxjs/toolkit/query'
import { filesApi } from '../api/files'
import { reasonOf, reportProblem } from '../api/reportProblem'
import { pageShown } from '../facts'
import { filesSlice } from '../features/files/filesSlice'
import { selectionSlice } from '../features/files/selectionSlice'
import { sendUpload as sendByRequest } from '../features/files/uploads/sendUpload'
import { createUploadQueue } from '../features/files/uploads/uploadQueue'
import { uploadSlice } from '../features/files/uploads/uploadSlice'
import { worksSlice } from '../features/files/worksSlice'
import { messageReceived } from '../sockets/realtimeSlice'
import type { Part } from './part'
import type { AppDispatch, AppStore, RootState, Services } from './types'

const addFilesListener = addListener.withTypes<RootState, AppDispatch, Services>()
const { getFiles } = filesApi.endpoints

/** What only the Files page needs. */
export const filesPart: Part<'files' | 'selection' | 'uploads' | 'works'> = {
  reducers: {
    files: filesSlice.reducer,
    selection: selectionSlice.reducer,
    uploads: uploadSlice.reducer,
    works: worksSlice.reducer,
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
        // One at a time, and once more for what happened meanwhile.
        listener.cancelActiveListeners()
        await listener.delay(CHECK_MS)
        const directory = listener.getState().files?.directory
        if (!directory || document.visibilityState === 'hidden') return
        const statusOf = (state: RootState) => getFiles.select(directory)(state).status
        // One that is on its way tells of the time before, and no other is fetched beside it.
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
      // The page shows what it had (product §8).
      effect({ payload, meta }, { dispatch }) {
        if (!meta.condition && !meta.aborted)
          dispatch(reportProblem(`Failed to load files of ${meta.arg.originalArgs}`, reasonOf(payload)))
      },
    }),
  )
}

/** Of an end of a sync, for more of them. In milliseconds. */
const CHECK_MS = 250

const isSyncEnd = (action: unknown) =>
  messageReceived.match(action) &&
  action.payload.id === 'CLIENT_FILE_SYNC' &&
  (action.payload.data as { event?: unknown } | undefined)?.event === 'sync_completed'
