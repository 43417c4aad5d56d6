import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { sessionEnded } from '../../facts'

/** Where the user wanted to go: an address, so many entries of the history back (or on), or out of the session. */
export type Leaving = { to: string } | { by: number } | { signingOut: true }

type ConfigurationState = {
  /** What differs from the stored text, by deployment. */
  drafts: Record<string, string>
  dialog: 'changes' | Leaving | null
}

const initialState: ConfigurationState = { drafts: {}, dialog: null }

export const configurationSlice = createSlice({
  name: 'configuration',
  initialState,
  reducers: {
    draftTyped(state, { payload: { name, text } }: PayloadAction<{ name: string; text: string }>) {
      state.drafts[name] = text
    },
    /** The stored text is what counts again: because it became the same, or because the user gave up. */
    draftDropped(state, { payload: name }: PayloadAction<string>) {
      delete state.drafts[name]
    },
    /** Who typed on while the save was on its way keeps what came after. */
    draftSaved(state, { payload: { name, text } }: PayloadAction<{ name: string; text: string }>) {
      if (state.drafts[name] === text) delete state.drafts[name]
    },
    changesOpened(state) {
      state.dialog = 'changes'
    },
    leaveAsked(state, { payload }: PayloadAction<Leaving>) {
      state.dialog = payload
    },
    dialogClosed(state) {
      state.dialog = null
    },
  },
  extraReducers: (builder) => {
    // A session that ran out takes nobody's work with it; one that somebody ended leaves nothing behind.
    builder.addCase(sessionEnded, (state, { payload }) => {
      if (payload === 'signedOut' || payload === 'gone') state.drafts = {}
    })
  },
  selectors: {
    selectDraft: (state, name: string) => (Object.hasOwn(state.drafts, name) ? state.drafts[name] : undefined),
    selectDialog: (state) => state.dialog,
  },
})

export const { draftTyped, draftDropped, draftSaved, changesOpened, leaveAsked, dialogClosed } = configurationSlice.actions
export const { selectDraft, selectDialog } = configurationSlice.selectors
