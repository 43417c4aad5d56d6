import { createSlice } from '@reduxjs/toolkit'
import { loadChunksBy } from '../chunks'
import { createChunkLoader } from './retryChunks'
import { rootReducer } from './rootReducer'
import type { AppThunk } from './types'

/** Whether the server has a newer build of the console, without the chunks of this one. */
export type VersionState = { isReplaced: boolean }

const initialState: VersionState = { isReplaced: false }

const versionSlice = createSlice({
  name: 'version',
  initialState,
  reducers: {
    replaced(state) {
      state.isReplaced = true
    },
  },
  selectors: { selectIsBuildReplaced: (state) => state.isReplaced },
})

declare module './rootReducer' {
  interface LazySlices {
    version: VersionState
  }
}

export const { replaced: buildReplaced } = versionSlice.actions
export const { selectIsBuildReplaced } = versionSlice.injectInto(rootReducer).selectors

/** Sets the loader of the pages' chunks to one that waits for the server and reports a replaced build. */
export const loadChunksWithRetries = (): AppThunk => (dispatch) =>
  loadChunksBy(createChunkLoader(() => dispatch(buildReplaced())))
