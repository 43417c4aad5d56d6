import { addListener } from '@reduxjs/toolkit'
import { loadChunksBy } from '../chunks'
import { draftsSlice } from '../drafts/draftsSlice'
import { keepDrafts } from '../drafts/keepDrafts'
import { problemMet } from '../facts'
import { problemsSlice } from '../features/problems/problemsSlice'
import { navigationSlice } from './navigationSlice'
import type { Part } from './part'
import { keepFetching } from './refetching'
import { createChunkLoading } from './retryChunks'
import { replaced, versionSlice } from './versionSlice'
import { watchSignOut } from './watchSignOut'

/** What every page after sign-in needs. */
export const headerPart: Part<'drafts' | 'navigation' | 'problems' | 'version'> = {
  reducers: {
    drafts: draftsSlice.reducer,
    navigation: navigationSlice.reducer,
    problems: problemsSlice.reducer,
    version: versionSlice.reducer,
  },
  begin(store) {
    keepFetching(store)
    watchSignOut(store)
    keepDrafts(store)
    loadChunksBy(createChunkLoading(() => store.dispatch(replaced())))
    store.dispatch(
      addListener({
        actionCreator: problemMet,
        effect: ({ payload: { what, reason } }) => console.warn(`${what}: ${reason}`),
      }),
    )
  },
}
