import { createSlice } from '@reduxjs/toolkit'

export type NavigationState = { open: boolean }

const initialState: NavigationState = { open: false }

/** The menu of the header on narrow screens. */
export const navigationSlice = createSlice({
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

export const { menuToggled, menuClosed } = navigationSlice.actions
export const { selectMenuOpen } = navigationSlice.selectors
