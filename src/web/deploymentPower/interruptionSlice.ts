import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../app/rootReducer'
import { routeChanged } from '../app/routing/routeSlice'
import { sessionEnded } from '../facts'

export type Interruption = { name: string; change: 'restart' | 'disable' }
export type InterruptionState = { asked: Interruption | null }

const initialState: InterruptionState = { asked: null }

/** The confirmation of a change that interrupts instances of a deployment, shown on any page. */
const interruptionSlice = createSlice({
  name: 'interruption',
  initialState,
  reducers: {
    asked(state, { payload }: PayloadAction<Interruption>) {
      state.asked = payload
    },
    answered(state) {
      state.asked = null
    },
  },
  extraReducers: (builder) =>
    // The confirmation must not stay open on the next page.
    builder.addCase(sessionEnded, () => initialState).addCase(routeChanged, () => initialState),
  selectors: { selectInterruption: (state) => state.asked },
})

declare module '../app/rootReducer' {
  interface LazySlices {
    interruption: InterruptionState
  }
}

export const { asked: interruptionAsked, answered: interruptionAnswered } = interruptionSlice.actions
export const { selectInterruption } = interruptionSlice.injectInto(rootReducer).selectors
