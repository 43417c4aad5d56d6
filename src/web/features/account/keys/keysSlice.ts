import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { Scope } from '../../../../contract/access'
import { rootReducer } from '../../../app/rootReducer'
import { sessionEnded } from '../../../facts'

/** In days, `never`, or the `date` of the field below. */
export type Expiry = 'never' | '30' | '90' | '365' | 'date'

export type KeyCreation = {
  kind: 'create'
  name: string
  scopes: Scope[]
  /** Whether the key works for `deployments` only. */
  isRestricted: boolean
  deployments: string[]
  expiry: Expiry
  /** In the format of a date field: `2027-01-31`. */
  date: string
  /** Counts submissions. The form shows validation errors from the first one on. */
  tries: number
}

/** Fields of the form that change. */
export type KeyChange = Partial<Omit<KeyCreation, 'kind' | 'tries'>>

export type KeysState = {
  /** Never holds a key: a new one is in component state, because the action log records the store. */
  dialog: KeyCreation | { kind: 'delete'; id: string } | null
}

const newKey: KeyCreation = {
  kind: 'create',
  name: '',
  scopes: ['read'],
  isRestricted: false,
  deployments: [],
  expiry: '90',
  date: '',
  tries: 0,
}

const initialState: KeysState = { dialog: null }

const keysSlice = createSlice({
  name: 'keys',
  initialState,
  reducers: {
    creationStarted(state) {
      state.dialog = newKey
    },
    creationEdited(state, { payload }: PayloadAction<KeyChange>) {
      if (state.dialog?.kind === 'create') Object.assign(state.dialog, payload)
    },
    creationTried(state) {
      if (state.dialog?.kind === 'create') state.dialog.tries++
    },
    deletionAsked(state, { payload: id }: PayloadAction<string>) {
      state.dialog = { kind: 'delete', id }
    },
    /** With a kind, closes only that dialog: a late call must not close a dialog that was opened since. */
    dialogClosed(state, { payload: kind }: PayloadAction<'create' | 'delete' | undefined>) {
      if (!kind || state.dialog?.kind === kind) state.dialog = null
    },
  },
  extraReducers: (builder) => {
    builder.addCase(sessionEnded, () => initialState)
  },
  selectors: { selectKeyDialog: (state) => state.dialog },
})

declare module '../../../app/rootReducer' {
  interface LazySlices {
    keys: KeysState
  }
}

export const {
  creationStarted: keyCreationStarted,
  creationEdited: keyEdited,
  creationTried: keySubmitted,
  deletionAsked: keyDeletionRequested,
  dialogClosed: keyDialogClosed,
} = keysSlice.actions
export const { selectKeyDialog } = keysSlice.injectInto(rootReducer).selectors
