import { createSlice, isAnyOf } from '@reduxjs/toolkit'
import { archivesApi } from '../../api/archives'
import { rootReducer } from '../../app/rootReducer'
import { sessionEnded } from '../../facts'

/** A call that may take many minutes. `paths` are the entries to pack or unpack. */
export type ArchiveJob = { id: string; kind: 'archive' | 'unarchive'; paths: string[] }
export type ArchiveJobsState = ArchiveJob[]

const { archiveFiles, unarchiveFile } = archivesApi.endpoints
const initialState: ArchiveJobsState = []

/** Archive calls in flight that were started here. Their progress is in the RTK Query cache. */
const archiveJobsSlice = createSlice({
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
  selectors: { selectArchiveJobs: (state) => state },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    works: ArchiveJobsState
  }
}

export const { selectArchiveJobs } = archiveJobsSlice.injectInto(rootReducer).selectors
