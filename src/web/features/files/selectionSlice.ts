import type { PayloadAction } from '@reduxjs/toolkit'
import { createSelector, createSlice } from '@reduxjs/toolkit'
import { filesApi } from '../../api/files'
import { sessionEnded } from '../../facts'
import { directoryOpened } from './filesSlice'

export type SelectionState = {
  paths: string[]
  /** Where a range begins: the entry that was chosen last. */
  anchor: string | null
  directory: string | null
  /** The version of the directory's listing; null where the server tells none. */
  version: string | null
}

const initialState: SelectionState = { paths: [], anchor: null, directory: null, version: null }
const nothing = ({ directory, version }: SelectionState): SelectionState => ({ ...initialState, directory, version })

export const selectionSlice = createSlice({
  name: 'selection',
  initialState,
  reducers: {
    toggled(state, { payload: path }: PayloadAction<string>) {
      const at = state.paths.indexOf(path)
      if (at === -1) state.paths.push(path)
      else state.paths.splice(at, 1)
      state.anchor = path
    },
    /** `paths` from the anchor to where it ends now, both included. The anchor stays. */
    rangeSelected(state, { payload }: PayloadAction<string[]>) {
      state.paths = [...new Set([...state.paths, ...payload])]
    },
    allSelected(state, { payload }: PayloadAction<string[]>) {
      state.paths = payload
    },
    closed: nothing,
  },
  extraReducers: (builder) => {
    builder
      .addCase(directoryOpened, (_state, { payload: directory }) => ({ ...initialState, directory }))
      .addCase(sessionEnded, () => initialState)
      .addMatcher(filesApi.endpoints.getFiles.matchFulfilled, (state, { payload, meta }) => {
        if (meta.arg.originalArgs !== state.directory) return
        const { version = null } = payload
        // A listing that has not changed is no refresh (decisions §18).
        if (version !== null && version === state.version) return
        return { ...initialState, directory: state.directory, version }
      })
      .addMatcher(filesApi.endpoints.archiveFiles.matchFulfilled, (state, { meta }) => {
        // Of several entries; one by its own menu is no reason to drop what was selected.
        return meta.arg.originalArgs.length > 1 ? nothing(state) : undefined
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

export const { toggled, rangeSelected, allSelected, closed } = selectionSlice.actions
export const { selectPaths, selectAnchor, selectPathSet } = selectionSlice.selectors
