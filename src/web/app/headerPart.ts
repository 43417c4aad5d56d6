import { addListener } from '@reduxjs/toolkit'
import { draftsSlice } from '../drafts/draftsSlice'
import { keepDrafts } from '../drafts/keepDrafts'
import { problemMet } from '../facts'
import { problemsSlice } from '../features/problems/problemsSlice'
import { navigationSlice } from './navigationSlice'
import type { Part } from './part'
import { keepFetching } from './refetching'

/** What every page after sign-in needs. */
export const headerPart: Part<'drafts' | 'navigation' | 'problems'> = {
  reducers: { drafts: draftsSlice.reducer, navigation: navigationSlice.reducer, problems: problemsSlice.reducer },
  begin(store) {
    keepFetching(store)
    keepDrafts(store)
    store.dispatch(addListener({ actionCreator: problemMet, effect: ({ payload: { what, reason } }) => console.warn(`${what}: ${reason}`) }))
  },
}
