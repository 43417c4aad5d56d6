import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { EntryRef } from '../../api/files'
import { rootReducer } from '../../app/rootReducer'
import { sessionEnded } from '../../facts'
import type { Leaving } from '../../ui/leave/useLeaveGuard'
import type { Sort, SortKey } from './table/fileEntries'

export const DENSITIES = ['comfortable', 'compact'] as const
/** The height of the rows. */
export type Density = (typeof DENSITIES)[number]

/** Key of the browser's storage. */
export const DENSITY_KEY = 'files-density'

export const isDensity = (text: string | null): text is Density => DENSITIES.some((density) => density === text)

/** `tries` counts submissions. A form shows validation errors from the first one on. */
type Submittable = { tries?: number }
export type Creation = { kind: 'create'; tab: 'file' | 'directory'; name: string } & Submittable
export type Deletion = { kind: 'delete'; items: EntryRef[] }
export type Move = { kind: 'move'; items: EntryRef[]; destination: string } & Submittable
export type Renaming = { kind: 'rename'; item: EntryRef; name: string } & Submittable
/** `leaving` is the navigation or sign-out that unsaved changes stopped; null if the editor was closed. */
export type Editing = {
  kind: 'edit'
  item: EntryRef
  isChanged: boolean
  asked: 'conflict' | { leaving: Leaving | null } | null
}
export type FilesDialog = Creation | Deletion | Move | Renaming | Editing

/** Value of `menu` for the menu of the sort order. It cannot be a path, because paths are absolute. */
export const SORT_MENU = 'sort'

export type FilesState = {
  directory: string | null
  sort: Sort
  /** Absent in logs of earlier versions. */
  density?: Density
  filter: string
  /** Path of the current row of the table (roving tabindex). */
  current: string | null
  /** Path of the row whose menu is open, or SORT_MENU. */
  menu: string | null
  dragged: EntryRef[]
  dialog: FilesDialog | null
}

const initialState: FilesState = {
  directory: null,
  sort: { by: 'name', descending: false },
  density: 'comfortable',
  filter: '',
  current: null,
  menu: null,
  dragged: [],
  dialog: null,
}

function keepItems(dialog: Deletion | Move, paths: string[]) {
  dialog.items = dialog.items.filter(({ path }) => paths.includes(path))
}

/** View state of the Files page. The listings are in the RTK Query cache. */
const filesSlice = createSlice({
  name: 'files',
  initialState,
  reducers: {
    directoryOpened: ({ sort, density = 'comfortable' }, { payload }: PayloadAction<string>) => ({
      ...initialState,
      sort,
      density,
      directory: payload,
    }),
    /** A column was chosen. The chosen one again reverses the order. */
    sortChosen({ sort }, { payload: by }: PayloadAction<SortKey>) {
      sort.descending = sort.by === by && !sort.descending
      sort.by = by
    },
    orderChosen(state, { payload }: PayloadAction<Sort>) {
      state.sort = payload
    },
    densityChosen(state, { payload }: PayloadAction<Density>) {
      state.density = payload
    },
    /** Read from the browser's storage. */
    densityLoaded(state, { payload }: PayloadAction<Density>) {
      state.density = payload
    },
    filterTyped(state, { payload }: PayloadAction<string>) {
      state.filter = payload
    },
    entryReached(state, { payload }: PayloadAction<string>) {
      state.current = payload
    },
    menuOpened(state, { payload }: PayloadAction<string>) {
      state.menu = payload
    },
    menuClosed(state) {
      state.menu = null
    },
    dragStarted(state, { payload }: PayloadAction<EntryRef[]>) {
      state.dragged = payload
    },
    dragEnded(state) {
      state.dragged = []
    },
    creationStarted(state) {
      state.dialog = { kind: 'create', tab: 'file', name: '' }
    },
    creationEdited(state, { payload }: PayloadAction<Partial<Pick<Creation, 'tab' | 'name'>>>) {
      if (state.dialog?.kind !== 'create') return
      Object.assign(state.dialog, payload)
      if (payload.tab) delete state.dialog.tries
    },
    deletionAsked(state, { payload: items }: PayloadAction<EntryRef[]>) {
      state.dialog = { kind: 'delete', items }
    },
    /** Keeps only the entries that could not be deleted. */
    deletionFailed(state, { payload: paths }: PayloadAction<string[]>) {
      if (state.dialog?.kind === 'delete') keepItems(state.dialog, paths)
    },
    moveStarted(state, { payload: items }: PayloadAction<EntryRef[]>) {
      state.dialog = { kind: 'move', items, destination: '' }
    },
    moveFailed(state, { payload: paths }: PayloadAction<string[]>) {
      if (state.dialog?.kind === 'move') keepItems(state.dialog, paths)
    },
    destinationTyped(state, { payload }: PayloadAction<string>) {
      if (state.dialog?.kind === 'move') state.dialog.destination = payload
    },
    renameStarted(state, { payload: item }: PayloadAction<EntryRef>) {
      state.dialog = { kind: 'rename', item, name: item.name }
    },
    newNameTyped(state, { payload }: PayloadAction<string>) {
      if (state.dialog?.kind === 'rename') state.dialog.name = payload
    },
    formTried(state) {
      const { dialog } = state
      if (dialog?.kind === 'create' || dialog?.kind === 'move' || dialog?.kind === 'rename')
        dialog.tries = (dialog.tries ?? 0) + 1
    },
    fileOpened(state, { payload: item }: PayloadAction<EntryRef>) {
      state.dialog = { kind: 'edit', item, isChanged: false, asked: null }
    },
    /** Whether the editor's text differs from the stored one. The text itself is not in the store. */
    draftChanged(state, { payload }: PayloadAction<boolean>) {
      if (state.dialog?.kind === 'edit') state.dialog.isChanged = payload
    },
    conflictMet(state) {
      if (state.dialog?.kind === 'edit') state.dialog.asked = 'conflict'
    },
    leaveAsked(state, { payload: leaving }: PayloadAction<Leaving | null>) {
      if (state.dialog?.kind === 'edit') state.dialog.asked = { leaving }
    },
    questionAnswered(state) {
      if (state.dialog?.kind === 'edit') state.dialog.asked = null
    },
    /** With a kind, closes only that dialog: a late call must not close a dialog that was opened since. */
    dialogClosed(state, { payload: kind }: PayloadAction<FilesDialog['kind'] | undefined>) {
      if (!kind || state.dialog?.kind === kind) state.dialog = null
    },
  },
  extraReducers: (builder) => {
    builder.addCase(sessionEnded, () => initialState)
  },
  selectors: {
    selectDirectory: (state) => state.directory,
    selectSort: (state) => state.sort,
    selectDensity: (state) => state.density ?? 'comfortable',
    selectFilter: (state) => state.filter,
    selectCurrent: (state) => state.current,
    selectMenu: (state) => state.menu,
    selectDragged: (state) => state.dragged,
    selectDialog: (state) => state.dialog,
  },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    files: FilesState
  }
}

export const {
  directoryOpened,
  sortChosen,
  orderChosen,
  densityChosen,
  densityLoaded,
  filterTyped,
  entryReached: entryFocused,
  menuOpened,
  menuClosed,
  dragStarted,
  dragEnded,
  creationStarted,
  creationEdited,
  deletionAsked: deletionRequested,
  deletionFailed,
  moveStarted,
  moveFailed,
  destinationTyped,
  renameStarted,
  newNameTyped,
  formTried: formSubmitted,
  fileOpened,
  draftChanged,
  conflictMet: conflictDetected,
  leaveAsked: leaveRequested,
  questionAnswered,
  dialogClosed,
} = filesSlice.actions
export const {
  selectDirectory,
  selectSort,
  selectDensity,
  selectFilter,
  selectCurrent,
  selectMenu,
  selectDragged,
  selectDialog,
} = filesSlice.injectInto(rootReducer).selectors
