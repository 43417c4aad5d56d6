import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'

/** Names of the collapsed deployments. */
export type OverviewState = { collapsed: string[] }

const initialState: OverviewState = { collapsed: [] }

export const overviewSlice = createSlice({
  name: 'overview',
  initialState,
  reducers: {
    sectionToggled(state, { payload: name }: PayloadAction<string>) {
      const at = state.collapsed.indexOf(name)
      if (at === -1) state.collapsed.push(name)
      else state.collapsed.splice(at, 1)
    },
  },
  selectors: { selectIsCollapsed: (state, name: string) => state.collapsed.includes(name) },
})

export const { sectionToggled } = overviewSlice.actions
export const { selectIsCollapsed } = overviewSlice.selectors
