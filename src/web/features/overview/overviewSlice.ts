import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../../app/rootReducer'

/** Names of the collapsed deployments. */
export type OverviewState = { collapsed: string[] }

const initialState: OverviewState = { collapsed: [] }

const overviewSlice = createSlice({
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

declare module '../../app/rootReducer' {
  interface LazySlices {
    overview: OverviewState
  }
}

export const { sectionToggled } = overviewSlice.actions
export const { selectIsCollapsed } = overviewSlice.injectInto(rootReducer).selectors
