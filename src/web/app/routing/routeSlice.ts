import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { withoutSecretParameters } from '../../withoutSecretParameters'

/** Path and query of the current page, without secrets. Written by the router only. */
export const routeSlice = createSlice({
  name: 'route',
  initialState: '',
  reducers: {
    changed: {
      prepare: (address: string) => ({ payload: withoutSecretParameters(address) }),
      reducer: (_state, { payload }: PayloadAction<string>) => payload,
    },
  },
  selectors: { selectRoute: (state) => state },
})

export const { changed: routeChanged } = routeSlice.actions
export const { selectRoute } = routeSlice.selectors
