import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { DatabaseType } from '../../../contract/database'
import { databasesApi } from '../../api/databases'
import { rootReducer } from '../../app/rootReducer'
import { sessionEnded } from '../../facts'

type Named = { type: DatabaseType; name: string }
export type Creation = { kind: 'create' } & Named
type Dialog = Creation | ({ kind: 'delete' | 'reset' } & Named)
export type PanelTab = 'credentials' | 'connection'

/** Names are unique within a type. */
const keyOf = ({ type, name }: Named) => `${type}/${name}`

export type DatabasesViewState = {
  dialog: Dialog | null
  /** Keys of the cards whose panel is open. */
  expanded: string[]
  /** The chosen tab by key. Missing for the first tab. */
  tabs: Record<string, PanelTab>
  /** The chosen snippet by type: it applies to all databases of the type. */
  snippets: Partial<Record<DatabaseType, string>>
  filter: string
  /** Key of the card that was just created or got a new password. The page scrolls to it. */
  shown: string | null
}

const initialState: DatabasesViewState = { dialog: null, expanded: [], tabs: {}, snippets: {}, filter: '', shown: null }

function closeDialog(state: DatabasesViewState, kind: Dialog['kind'], { type, name }: Named) {
  const { dialog } = state
  // A dialog that was opened while the call was in flight stays open.
  if (dialog?.kind === kind && dialog.type === type && dialog.name === name) state.dialog = null
}

function showCredentials(state: DatabasesViewState, key: string) {
  state.shown = key
  if (!state.expanded.includes(key)) state.expanded.push(key)
  delete state.tabs[key]
}

function forget(state: DatabasesViewState, key: string) {
  state.expanded = state.expanded.filter((expanded) => expanded !== key)
  delete state.tabs[key]
  if (state.shown === key) state.shown = null
}

const { createDatabase, resetDatabasePassword, deleteDatabase } = databasesApi.endpoints

/** View state of the databases page. Credentials are in the RTK Query cache only. */
const databasesSlice = createSlice({
  name: 'databases',
  initialState,
  reducers: {
    creationStarted(state, { payload: type }: PayloadAction<DatabaseType>) {
      state.dialog = { kind: 'create', type, name: '' }
    },
    nameTyped(state, { payload: name }: PayloadAction<string>) {
      if (state.dialog?.kind === 'create') state.dialog.name = name
    },
    deletionAsked(state, { payload }: PayloadAction<Named>) {
      state.dialog = { kind: 'delete', ...payload }
    },
    resetAsked(state, { payload }: PayloadAction<Named>) {
      state.dialog = { kind: 'reset', ...payload }
    },
    dialogClosed(state) {
      state.dialog = null
    },
    cardToggled(state, { payload }: PayloadAction<Named>) {
      const key = keyOf(payload)
      if (state.expanded.includes(key)) forget(state, key)
      else state.expanded.push(key)
    },
    tabChosen(state, { payload: { tab, ...named } }: PayloadAction<Named & { tab: PanelTab }>) {
      state.tabs[keyOf(named)] = tab
    },
    snippetChosen(state, { payload: { type, snippet } }: PayloadAction<{ type: DatabaseType; snippet: string }>) {
      state.snippets[type] = snippet
    },
    filtered(state, { payload }: PayloadAction<string>) {
      state.filter = payload
    },
    left(state) {
      state.dialog = null
      state.shown = null
    },
  },
  extraReducers: (builder) => {
    builder
      .addCase(sessionEnded, () => initialState)
      .addMatcher(createDatabase.matchFulfilled, (state, { meta: { arg } }) => {
        closeDialog(state, 'create', arg.originalArgs)
        showCredentials(state, keyOf(arg.originalArgs))
        state.filter = ''
      })
      .addMatcher(resetDatabasePassword.matchFulfilled, (state, { meta: { arg } }) => {
        closeDialog(state, 'reset', arg.originalArgs)
        showCredentials(state, keyOf(arg.originalArgs))
      })
      .addMatcher(deleteDatabase.matchFulfilled, (state, { meta: { arg } }) => {
        closeDialog(state, 'delete', arg.originalArgs)
        forget(state, keyOf(arg.originalArgs))
      })
  },
  selectors: {
    selectDialog: (state) => state.dialog,
    selectIsExpanded: (state, named: Named) => state.expanded.includes(keyOf(named)),
    selectIsShown: (state, named: Named) => state.shown === keyOf(named),
    selectTab: (state, named: Named): PanelTab =>
      (Object.hasOwn(state.tabs, keyOf(named)) && state.tabs[keyOf(named)]) || 'credentials',
    selectSnippet: (state, type: DatabaseType) => state.snippets[type],
    selectFilter: (state) => state.filter,
  },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    databases: DatabasesViewState
  }
}

export const {
  creationStarted,
  nameTyped,
  deletionAsked: deletionRequested,
  resetAsked: passwordResetRequested,
  dialogClosed,
  cardToggled,
  tabChosen,
  snippetChosen,
  filtered: filterTyped,
  left: databasesPageLeft,
} = databasesSlice.actions
export const { selectDialog, selectIsExpanded, selectIsShown, selectTab, selectSnippet, selectFilter } =
  databasesSlice.injectInto(rootReducer).selectors
