import { addListener } from '@reduxjs/toolkit'
import { loadChunksBy } from '../../chunks'
import { draftsSlice } from '../../drafts/draftsSlice'
import { keepDrafts } from '../../drafts/keepDrafts'
import { problemLogged } from '../../facts'
import { problemsSlice } from '../../features/problems/problemsSlice'
import { navigationSlice } from '../navigationSlice'
import type { Part } from './part'
import { startRefetching } from '../refetching'
import { createChunkLoader } from '../retryChunks'
import { buildReplaced, versionSlice } from '../versionSlice'
import { watchSignOut } from '../watchSignOut'

/** State and listeners of every page after sign-in. */
export const headerPart: Part<'drafts' | 'navigation' | 'problems' | 'version'> = {
  reducers: {
    drafts: draftsSlice.reducer,
    navigation: navigationSlice.reducer,
    problems: problemsSlice.reducer,
    version: versionSlice.reducer,
  },
  begin(store) {
    startRefetching(store)
    watchSignOut(store)
    keepDrafts(store)
    loadChunksBy(createChunkLoader(() => store.dispatch(buildReplaced())))
    store.dispatch(
      addListener({
        actionCreator: problemLogged,
        effect: ({ payload: { what, reason } }) => console.warn(`${what}: ${reason}`),
      }),
    )
  },
}
