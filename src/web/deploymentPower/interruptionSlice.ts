import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../app/rootReducer'
import { routeChanged } from '../app/routing/routeSlice'
import { sessionEnded } from '../facts'

export type Interruption = { name: string; change: 'restart' | 'disable' }
export type InterruptionState = { asked: Interruption | null }

const initialState: InterruptionState = { asked: null }

/** The question before a change that interrupts instances of a deployment, asked on any page. */
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
    // The question of one page must not wait on the next one.
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
