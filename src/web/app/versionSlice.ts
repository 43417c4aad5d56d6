import { createSlice } from '@reduxjs/toolkit'

/** Whether the server has another build of the console by now, without the chunks of this one. */
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

export const { replaced } = versionSlice.actions
