import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { DeploymentType } from '../../../contract/deployment'
import { rootReducer } from '../../app/rootReducer'

/** `node` is empty if none is chosen. `tries` counts submissions: from the first on, the form shows errors. */
export type Creation = { kind: 'create'; name: string; type: DeploymentType; node: string; tries?: number }
type Deletion = { kind: 'delete'; name: string }

export type DeploymentsState = { dialog: Creation | Deletion | null }

const initialState: DeploymentsState = { dialog: null }

const deploymentsSlice = createSlice({
  name: 'deployments',
  initialState,
  reducers: {
    creationStarted(state, { payload: type }: PayloadAction<DeploymentType>) {
      state.dialog = { kind: 'create', name: '', type, node: '' }
    },
    creationEdited(state, { payload }: PayloadAction<Partial<Pick<Creation, 'name' | 'type' | 'node'>>>) {
      if (state.dialog?.kind === 'create') Object.assign(state.dialog, payload)
    },
    creationTried(state) {
      if (state.dialog?.kind === 'create') state.dialog.tries = (state.dialog.tries ?? 0) + 1
    },
    deletionAsked(state, { payload: name }: PayloadAction<string>) {
      state.dialog = { kind: 'delete', name }
    },
    /** With a kind, closes only that dialog: a call that ends late must not close one that was opened meanwhile. */
    dialogClosed(state, { payload: kind }: PayloadAction<'create' | 'delete' | undefined>) {
      if (!kind || state.dialog?.kind === kind) state.dialog = null
    },
  },
  selectors: { selectDialog: (state) => state.dialog },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    deployments: DeploymentsState
  }
}

export const {
  creationStarted,
  creationEdited,
  creationTried: creationSubmitted,
  deletionAsked: deletionRequested,
  dialogClosed,
} = deploymentsSlice.actions
export const { selectDialog } = deploymentsSlice.injectInto(rootReducer).selectors
