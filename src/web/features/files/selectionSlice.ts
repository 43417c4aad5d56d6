import type { PayloadAction } from '@reduxjs/toolkit'
import { createSelector, createSlice } from '@reduxjs/toolkit'
import { filesApi } from '../../api/files'
import { sessionEnded } from '../../facts'
import { directoryOpened } from './filesSlice'

export type SelectionState = {
  paths: string[]
  /** Where a range begins: the entry that was chosen last. */
  anchor: string | null
  /** Of a listing that nobody asked for (listingChecked). */
  check: string | null
}

const initialState: SelectionState = { paths: [], anchor: null, check: null }
const nothing = ({ check }: SelectionState): SelectionState => ({ ...initialState, check })

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
    /**
     * The listing is fetched anew because something may have changed outside. Whoever is ticking boxes did not ask for that:
     * what is still there stays selected. The payload is the id of the request.
     */
    listingChecked(state, { payload }: PayloadAction<string>) {
      state.check = payload
    },
  },
  extraReducers: (builder) => {
    builder
      .addCase(directoryOpened, nothing)
      .addCase(sessionEnded, () => initialState)
      .addMatcher(filesApi.endpoints.getFiles.matchFulfilled, (state, { payload, meta }) => {
        if (meta.requestId !== state.check) return nothing(state)
        if (state.paths.length === 0) return
        const there = new Set(payload.files.map(({ path }) => path))
        if (!state.paths.every((path) => there.has(path))) state.paths = state.paths.filter((path) => there.has(path))
      })
      .addMatcher(filesApi.endpoints.archiveFiles.matchFulfilled, (state, { meta }) => {
        // Of several entries; one by its own menu is no reason to drop what was selected.
        return meta.arg.originalArgs.length > 1 ? nothing(state) : undefined
      })
  },
  selectors: {
    selectPaths: (state) => state.paths,
    selectAnchor: (state) => state.anchor,
    selectPathSet: createSelector([(state: SelectionState) => state.paths], (paths): ReadonlySet<string> => new Set(paths)),
  },
})

export const { toggled, rangeSelected, allSelected, closed, listingChecked } = selectionSlice.actions
export const { selectPaths, selectAnchor, selectPathSet } = selectionSlice.selectors
