import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { DeploymentType } from '../../../contract/deployment'

/** An empty `node` means: not chosen. */
export type Creation = { kind: 'create'; name: string; type: DeploymentType; node: string }
type Deletion = { kind: 'delete'; name: string }

export const deploymentsSlice = createSlice({
  name: 'deployments',
  initialState: { dialog: null as Creation | Deletion | null },
  reducers: {
    creationStarted(state, { payload: type }: PayloadAction<DeploymentType>) {
      state.dialog = { kind: 'create', name: '', type, node: '' }
    },
    creationEdited(state, { payload }: PayloadAction<Partial<Omit<Creation, 'kind'>>>) {
      if (state.dialog?.kind === 'create') Object.assign(state.dialog, payload)
    },
    deletionAsked(state, { payload: name }: PayloadAction<string>) {
      state.dialog = { kind: 'delete', name }
    },
    /** With a kind, closes nothing else: a call that ends late must leave alone what was opened meanwhile. */
    dialogClosed(state, { payload: kind }: PayloadAction<'create' | 'delete' | undefined>) {
      if (!kind || state.dialog?.kind === kind) state.dialog = null
    },
  },
  selectors: { selectDialog: (state) => state.dialog },
})

export const { creationStarted, creationEdited, deletionAsked, dialogClosed } = deploymentsSlice.actions
export const { selectDialog } = deploymentsSlice.selectors
