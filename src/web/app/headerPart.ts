import { navigationSlice } from './navigationSlice'
import type { Part } from './part'
import { keepFetching } from './refetching'

/** What every page after sign-in needs. */
export const headerPart: Part<'navigation'> = { reducers: { navigation: navigationSlice.reducer }, begin: keepFetching }
