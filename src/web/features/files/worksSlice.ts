import { createSlice, isAnyOf } from '@reduxjs/toolkit'
import { filesApi } from '../../api/files'
import { sessionEnded } from '../../facts'

/** A call that may take many minutes. `paths` are what it was asked to pack or unpack. */
export type Work = { id: string; kind: 'archive' | 'unarchive'; paths: string[] }
export type WorksState = Work[]

const { archiveFiles, unarchiveFile } = filesApi.endpoints
const initialState: WorksState = []

/** What is being packed and unpacked from here, while its call is open. How far it is, the api's cache knows. */
export const worksSlice = createSlice({
  name: 'works',
  initialState,
  reducers: {},
  extraReducers: (builder) => {
    builder
      .addCase(sessionEnded, () => initialState)
      .addMatcher(archiveFiles.matchPending, (state, { meta: { requestId, arg } }) => {
        state.push({ id: requestId, kind: 'archive', paths: arg.originalArgs.map(({ path }) => path) })
      })
      .addMatcher(unarchiveFile.matchPending, (state, { meta: { requestId, arg } }) => {
        state.push({ id: requestId, kind: 'unarchive', paths: [arg.originalArgs.path] })
      })
      .addMatcher(
        isAnyOf(
          archiveFiles.matchFulfilled,
          archiveFiles.matchRejected,
          unarchiveFile.matchFulfilled,
          unarchiveFile.matchRejected,
        ),
        (state, { meta: { requestId } }) => state.filter(({ id }) => id !== requestId),
      )
  },
  selectors: { selectWorks: (state) => state },
})

export const { selectWorks } = worksSlice.selectors
