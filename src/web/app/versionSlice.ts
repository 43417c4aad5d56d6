import { createSlice } from '@reduxjs/toolkit'

/** Whether the server has a newer build of the console and no longer the chunks of this one. */
export type VersionState = { isReplaced: boolean }

const initialState: VersionState = { isReplaced: false }

export const versionSlice = createSlice({
  name: 'version',
  initialState,
  reducers: {
    replaced(state) {
      state.isReplaced = true
    },
  },
})

export const { replaced: buildReplaced } = versionSlice.actions
