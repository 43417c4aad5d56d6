import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../app/rootReducer'
import type { Offer, Subject } from './draft'

/** Newest first. The contents are outside the store (draftKeeper.ts), so that no recording shows them. */
export type DraftsState = { offers: Offer[] }

const initialState: DraftsState = { offers: [] }

const draftsSlice = createSlice({
  name: 'drafts',
  initialState,
  reducers: {
    offersChanged(state, { payload }: PayloadAction<Offer[]>) {
      state.offers = payload
    },
  },
  selectors: {
    selectOffers: (state) => state.offers,
    selectOffer: ({ offers }, { kind, name }: Subject) =>
      offers.find((offer) => offer.kind === kind && offer.name === name),
  },
})

declare module '../app/rootReducer' {
  interface LazySlices {
    drafts: DraftsState
  }
}

export const { offersChanged } = draftsSlice.actions
export const { selectOffers, selectOffer } = draftsSlice.injectInto(rootReducer).selectors
