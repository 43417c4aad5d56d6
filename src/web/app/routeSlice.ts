import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { plainAddress } from '../plainAddress'

/** The page that is shown: path and query, without what may open a door. The router decides, the store only knows. */
export const routeSlice = createSlice({
  name: 'route',
  initialState: '',
  reducers: {
    changed: {
      prepare: (address: string) => ({ payload: plainAddress(address) }),
      reducer: (_state, { payload }: PayloadAction<string>) => payload,
    },
  },
  selectors: { selectRoute: (state) => state },
})

export const { changed: routeChanged } = routeSlice.actions
export const { selectRoute } = routeSlice.selectors
