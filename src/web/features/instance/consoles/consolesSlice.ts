import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../../../app/rootReducer'
import { sessionEnded } from '../../../facts'
import type { Pane } from '../../../sockets/panes'
import { PANES } from '../../../sockets/panes'

export type ShownPane = {
  pane: Pane
  /** The instance's uid. */
  uid: string
  /** Whether commands are sent to it. */
  isTarget: boolean
}

export type ConsolesState = {
  /** In the order of the address. */
  panes: ShownPane[]
  /** The pane that a narrow screen shows; null for the first one. */
  front: Pane | null
  /** The dialog that adds a console. */
  picker: { query: string } | null
}

const initialState: ConsolesState = { panes: [], front: null, picker: null }

/** State of the page with several consoles side by side. Their lines and views are in the slices of consoles. */
const consolesSlice = createSlice({
  name: 'consoles',
  initialState,
  reducers: {
    /** The payload holds the uids of the address, at most as many as there are panes. */
    panesShown(state, { payload: uids }: PayloadAction<string[]>) {
      const kept = state.panes.filter(({ uid }) => uids.includes(uid))
      const free = PANES.filter((pane) => !kept.some((shown) => shown.pane === pane))
      // If the user has selected some of the consoles, a new one is not selected.
      const isTarget = state.panes.every((shown) => shown.isTarget)
      state.panes = uids.flatMap((uid) => {
        const known = kept.find((shown) => shown.uid === uid)
        const pane = known ? undefined : free.shift()
        return known ?? (pane === undefined ? [] : { pane, uid, isTarget })
      })
      if (!state.panes.some(({ pane }) => pane === state.front)) state.front = null
    },
    targetToggled(state, { payload }: PayloadAction<Pane>) {
      const shown = state.panes.find(({ pane }) => pane === payload)
      if (shown) shown.isTarget = !shown.isTarget
    },
    targetsChosen(state, { payload }: PayloadAction<Pane[]>) {
      for (const shown of state.panes) shown.isTarget = payload.includes(shown.pane)
    },
    frontChosen(state, { payload }: PayloadAction<Pane>) {
      state.front = payload
    },
    pickerOpened(state) {
      state.picker = { query: '' }
    },
    pickerSearched(state, { payload: query }: PayloadAction<string>) {
      if (state.picker) state.picker.query = query
    },
    pickerClosed(state) {
      state.picker = null
    },
    left: () => initialState,
  },
  extraReducers: (builder) => builder.addCase(sessionEnded, () => initialState),
  selectors: {
    selectPanes: (state) => state.panes,
    selectFront: (state) => state.front ?? state.panes[0]?.pane,
    selectPicker: (state) => state.picker,
  },
})

declare module '../../../app/rootReducer' {
  interface LazySlices {
    consoles: ConsolesState
  }
}

export const {
  panesShown,
  targetToggled,
  targetsChosen,
  frontChosen,
  pickerOpened,
  pickerSearched,
  pickerClosed,
  left: consolesLeft,
} = consolesSlice.actions
export const { selectPanes, selectFront, selectPicker } = consolesSlice.injectInto(rootReducer).selectors
