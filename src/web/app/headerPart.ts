import { addListener } from '@reduxjs/toolkit'
import { problemMet } from '../facts'
import { problemsSlice } from '../features/problems/problemsSlice'
import { navigationSlice } from './navigationSlice'
import type { Part } from './part'
import { keepFetching } from './refetching'

/** What every page after sign-in needs. */
export const headerPart: Part<'navigation' | 'problems'> = {
  reducers: { navigation: navigationSlice.reducer, problems: problemsSlice.reducer },
  begin(store) {
    keepFetching(store)
    store.dispatch(addListener({ actionCreator: problemMet, effect: ({ payload: { what, reason } }) => console.warn(`${what}: ${reason}`) }))
  },
}
