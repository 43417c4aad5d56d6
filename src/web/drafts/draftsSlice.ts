import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { Offer, Subject } from './draft'

/** Newest first. The contents are outside the store (draftKeeper.ts), so that no recording shows them. */
export type DraftsState = { offers: Offer[] }

const initialState: DraftsState = { offers: [] }

export const draftsSlice = createSlice({
  name: 'drafts',
  initialState,
  reducers: {
    offersChanged(state, { payload }: PayloadAction<Offer[]>) {
      state.offers = payload
    },
  },
})

export const { offersChanged } = draftsSlice.actions

type WithDrafts = { drafts?: DraftsState }
const NONE: Offer[] = []

export const selectOffers = ({ drafts }: WithDrafts) => drafts?.offers ?? NONE
export const selectOffer = (state: WithDrafts, { kind, name }: Subject) =>
  selectOffers(state).find((offer) => offer.kind === kind && offer.name === name)
