import type { PayloadAction } from '@reduxjs/toolkit'
import { createSelector, createSlice } from '@reduxjs/toolkit'
import { archivesApi } from '../../api/archives'
import { filesApi } from '../../api/files'
import { rootReducer } from '../../app/rootReducer'
import { sessionEnded } from '../../facts'
import { directoryOpened } from './filesSlice'

export type SelectionState = {
  paths: string[]
  /** Path of the entry where a range selection begins: the last one that was toggled. */
  anchor: string | null
  directory: string | null
  /** The version of the directory's listing; null if the server does not send one. */
  version: string | null
}

const initialState: SelectionState = { paths: [], anchor: null, directory: null, version: null }
const withoutSelection = ({ directory, version }: SelectionState): SelectionState => ({
  ...initialState,
  directory,
  version,
})

const selectionSlice = createSlice({
  name: 'selection',
  initialState,
  reducers: {
    toggled(state, { payload: path }: PayloadAction<string>) {
      const at = state.paths.indexOf(path)
      if (at === -1) state.paths.push(path)
      else state.paths.splice(at, 1)
      state.anchor = path
    },
    /** `payload` holds the paths from the anchor to the end of the range, both included. The anchor stays. */
    rangeSelected(state, { payload }: PayloadAction<string[]>) {
      state.paths = [...new Set([...state.paths, ...payload])]
    },
    allSelected(state, { payload }: PayloadAction<string[]>) {
      state.paths = payload
    },
    closed: withoutSelection,
  },
  extraReducers: (builder) => {
    builder
      .addCase(directoryOpened, (_state, { payload: directory }) => ({ ...initialState, directory }))
      .addCase(sessionEnded, () => initialState)
      .addMatcher(filesApi.endpoints.getFiles.matchFulfilled, (state, { payload, meta }) => {
        if (meta.arg.originalArgs !== state.directory) return
        const { version = null } = payload
        // An unchanged listing is not a refresh and keeps the selection (decisions §18).
        if (version !== null && version === state.version) return
        return { ...initialState, directory: state.directory, version }
      })
      .addMatcher(archivesApi.endpoints.archiveFiles.matchFulfilled, (state, { meta }) => {
        // Archiving a single entry through its own menu keeps the selection.
        return meta.arg.originalArgs.length > 1 ? withoutSelection(state) : undefined
      })
  },
  selectors: {
    selectPaths: (state) => state.paths,
    selectAnchor: (state) => state.anchor,
    selectPathSet: createSelector(
      [(state: SelectionState) => state.paths],
      (paths): ReadonlySet<string> => new Set(paths),
    ),
  },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    selection: SelectionState
  }
}

export const { toggled: entryToggled, rangeSelected, allSelected, closed: selectionCleared } = selectionSlice.actions
export const { selectPaths, selectAnchor, selectPathSet } = selectionSlice.injectInto(rootReducer).selectors
