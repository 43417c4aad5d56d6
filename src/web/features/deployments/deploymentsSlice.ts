import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { DeploymentType } from '../../../contract/deployment'
import { deploymentsApi } from '../../api/deployments'
import { rootReducer } from '../../app/rootReducer'
import { sessionEnded } from '../../facts'

/** `node` is empty if none is chosen. `tries` counts submissions: from the first on, the form shows errors. */
export type Creation = { kind: 'create'; name: string; type: DeploymentType; node: string; tries?: number }
/** Fields of the form that change. */
export type CreationChange = Partial<Pick<Creation, 'name' | 'type' | 'node'>>
type Deletion = { kind: 'delete'; name: string }
/** The steps after a creation. `isConfigured`: the configuration was saved after the creation. */
export type Guide = { name: string; isConfigured: boolean }

export type DeploymentsState = {
  dialog: Creation | Deletion | null
  filter: string
  /** Name of the deployment whose menu is open. */
  menu: string | null
  guide: Guide | null
}

const initialState: DeploymentsState = { dialog: null, filter: '', menu: null, guide: null }

const { createDeployment, deleteDeployment, saveDeploymentConfig } = deploymentsApi.endpoints

const deploymentsSlice = createSlice({
  name: 'deployments',
  initialState,
  reducers: {
    creationStarted(state, { payload: type }: PayloadAction<DeploymentType>) {
      state.dialog = { kind: 'create', name: '', type, node: '' }
    },
    creationEdited(state, { payload }: PayloadAction<CreationChange>) {
      if (state.dialog?.kind === 'create') Object.assign(state.dialog, payload)
    },
    creationTried(state) {
      if (state.dialog?.kind === 'create') state.dialog.tries = (state.dialog.tries ?? 0) + 1
    },
    deletionAsked(state, { payload: name }: PayloadAction<string>) {
      state.dialog = { kind: 'delete', name }
    },
    /** With a kind, closes only that dialog: a late call must not close a dialog that was opened since. */
    dialogClosed(state, { payload: kind }: PayloadAction<'create' | 'delete' | undefined>) {
      if (!kind || state.dialog?.kind === kind) state.dialog = null
    },
    filtered(state, { payload: text }: PayloadAction<string>) {
      state.filter = text
    },
    menuToggled(state, { payload: { name, open } }: PayloadAction<{ name: string; open: boolean }>) {
      if (open) state.menu = name
      else if (state.menu === name) state.menu = null
    },
    /** Restores the guide after a reload of the page. */
    guideLoaded(state, { payload: guide }: PayloadAction<Guide>) {
      state.guide = guide
    },
    guideClosed(state) {
      state.guide = null
    },
  },
  extraReducers: (builder) => {
    builder
      .addCase(sessionEnded, () => initialState)
      .addMatcher(createDeployment.matchFulfilled, (state, { meta }) => {
        state.guide = { name: meta.arg.originalArgs.name, isConfigured: false }
      })
      .addMatcher(saveDeploymentConfig.matchFulfilled, (state, { meta }) => {
        if (state.guide?.name === meta.arg.originalArgs.name) state.guide.isConfigured = true
      })
      .addMatcher(deleteDeployment.matchFulfilled, (state, { meta }) => {
        if (state.guide?.name === meta.arg.originalArgs) state.guide = null
      })
  },
  selectors: {
    selectDialog: (state) => state.dialog,
    selectFilter: (state) => state.filter,
    selectIsMenuOpen: (state, name: string) => state.menu === name,
    selectGuide: (state) => state.guide,
  },
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
  filtered,
  menuToggled,
  guideLoaded,
  guideClosed,
} = deploymentsSlice.actions
export const { selectDialog, selectFilter, selectIsMenuOpen, selectGuide } =
  deploymentsSlice.injectInto(rootReducer).selectors
