import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { Item } from '../../api/files'
import { sessionEnded } from '../../facts'
import type { Leaving } from '../../ui/useLeaveGuard'
import type { Sort, SortKey } from './entries'

/** From the first try on, a form says what is wrong with it. */
type Tried = { tries?: number }
export type Creation = { kind: 'create'; tab: 'file' | 'directory'; name: string } & Tried
export type Deletion = { kind: 'delete'; items: Item[] }
export type Move = { kind: 'move'; items: Item[]; destination: string } & Tried
export type Renaming = { kind: 'rename'; item: Item; name: string } & Tried
/** `leaving` is what the user wanted to do with changes that are not saved; null wanted to close the editor. */
export type Editing = {
  kind: 'edit'
  item: Item
  isChanged: boolean
  asked: 'conflict' | { leaving: Leaving | null } | null
}
export type FilesDialog = Creation | Deletion | Move | Renaming | Editing

export type FilesState = {
  directory: string | null
  sort: Sort
  filter: string
  /** The row that the keyboard is at. */
  current: string | null
  /** The row whose menu is open. */
  menu: string | null
  /** Entries on their way to a directory of this page. */
  dragged: Item[]
  dialog: FilesDialog | null
}

const initialState: FilesState = {
  directory: null,
  sort: { by: 'name', descending: false },
  filter: '',
  current: null,
  menu: null,
  dragged: [],
  dialog: null,
}

/** How the Files page is looked at. What it shows is in the api's cache. */
export const filesSlice = createSlice({
  name: 'files',
  initialState,
  reducers: {
    directoryOpened: ({ sort }, { payload }: PayloadAction<string>) => ({ ...initialState, sort, directory: payload }),
    sortChosen({ sort }, { payload: by }: PayloadAction<SortKey>) {
      sort.descending = sort.by === by && !sort.descending
      sort.by = by
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
    dragStarted(state, { payload }: PayloadAction<Item[]>) {
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
    deletionAsked(state, { payload: items }: PayloadAction<Item[]>) {
      state.dialog = { kind: 'delete', items }
    },
    /** Some are gone, some could not be deleted: the dialog goes on with those. */
    deletionFailed(state, { payload: paths }: PayloadAction<string[]>) {
      if (state.dialog?.kind === 'delete')
        state.dialog.items = state.dialog.items.filter(({ path }) => paths.includes(path))
    },
    moveStarted(state, { payload: items }: PayloadAction<Item[]>) {
      state.dialog = { kind: 'move', items, destination: '' }
    },
    moveFailed(state, { payload: paths }: PayloadAction<string[]>) {
      if (state.dialog?.kind === 'move')
        state.dialog.items = state.dialog.items.filter(({ path }) => paths.includes(path))
    },
    destinationTyped(state, { payload }: PayloadAction<string>) {
      if (state.dialog?.kind === 'move') state.dialog.destination = payload
    },
    renameStarted(state, { payload: item }: PayloadAction<Item>) {
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
    fileOpened(state, { payload: item }: PayloadAction<Item>) {
      state.dialog = { kind: 'edit', item, isChanged: false, asked: null }
    },
    /** Against what is stored; the text itself is the editor's. */
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
    /** With a kind, closes nothing else: a call that ends late must leave alone what was opened meanwhile. */
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
    selectFilter: (state) => state.filter,
    selectCurrent: (state) => state.current,
    selectMenu: (state) => state.menu,
    selectDragged: (state) => state.dragged,
    selectDialog: (state) => state.dialog,
  },
})

export const {
  directoryOpened,
  sortChosen,
  filterTyped,
  entryReached,
  menuOpened,
  menuClosed,
  dragStarted,
  dragEnded,
  creationStarted,
  creationEdited,
  deletionAsked,
  deletionFailed,
  moveStarted,
  moveFailed,
  destinationTyped,
  renameStarted,
  newNameTyped,
  formTried,
  fileOpened,
  draftChanged,
  conflictMet,
  leaveAsked,
  questionAnswered,
  dialogClosed,
} = filesSlice.actions
export const { selectDirectory, selectSort, selectFilter, selectCurrent, selectMenu, selectDragged, selectDialog } =
  filesSlice.selectors
