import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../rootReducer'

export type NavigationState = { open: boolean }

const initialState: NavigationState = { open: false }

/** The menu of the header on narrow screens. */
const navigationSlice = createSlice({
  name: 'navigation',
  initialState,
  reducers: {
    menuToggled(state) {
      state.open = !state.open
    },
    menuClosed(state) {
      state.open = false
    },
  },
  selectors: { selectMenuOpen: (state) => state.open },
})

declare module '../rootReducer' {
  interface LazySlices {
    navigation: NavigationState
  }
}

export const { menuToggled, menuClosed } = navigationSlice.actions
export const { selectMenuOpen } = navigationSlice.injectInto(rootReducer).selectors
