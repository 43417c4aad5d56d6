import type { PayloadAction } from '@reduxjs/toolkit'
import { createSelector, createSlice, current } from '@reduxjs/toolkit'
import type { OnConflict } from '../../../../contract/file'
import { rootReducer } from '../../../app/rootReducer'
import { sessionEnded } from '../../../facts'

/** `asking`: the name is taken, and the user has to choose what to do. */
export type UploadStatus = 'waiting' | 'sending' | 'asking' | 'done' | 'failed' | 'cancelled' | 'skipped'
export type Upload = {
  id: string
  /** Id shared by files that were chosen or dropped together. */
  batch: string
  name: string
  /** Absolute path in the API. */
  directory: string
  size: number
  sent: number
  status: UploadStatus
  onConflict: OnConflict
  problem?: string
}
export type UploadChange = Pick<Upload, 'id'> & Partial<Pick<Upload, 'sent' | 'status' | 'onConflict' | 'problem'>>
type ChosenFile = Pick<Upload, 'id' | 'name' | 'directory' | 'size'>
type Batch = { batch: string; files: ChosenFile[]; directories: string[] }
export type ConflictAnswer = 'replace' | 'keepBoth' | 'skip'

// Not an entity adapter, which takes 1.4 kB: webpack puts everything that any chunk uses of Redux Toolkit into the
// first chunk.
export type UploadsState = {
  byId: Record<string, Upload>
  ids: string[]
  isOpen: boolean
  /** Whether the next answer applies to all conflicts of the batch. */
  isForAll: boolean
  /** Smoothed. Bytes per second. */
  rate: number
  /** The user wants to sign out and is asked to confirm that the uploads are aborted. */
  isSignOutAsked?: true
  /** Time of the last progress. Milliseconds since the epoch. */
  at: number | null
}

const initialState: UploadsState = { byId: {}, ids: [], isOpen: true, isForAll: false, rate: 0, at: null }

/** Weight of the newest measurement (exponential moving average). */
const SMOOTHING = 0.3

export const isActive = (status: UploadStatus) => status === 'waiting' || status === 'sending' || status === 'asking'
const allUploads = ({ byId, ids }: UploadsState) => ids.flatMap((id) => byId[id] ?? [])

const uploadSlice = createSlice({
  name: 'uploads',
  initialState,
  reducers: {
    /** `directories` are created first; parents come before their children. */
    filesChosen: {
      prepare: (batch: string, files: ChosenFile[], directories: string[]): { payload: Batch } => ({
        payload: { batch, files, directories },
      }),
      reducer(state, { payload: { batch, files } }: PayloadAction<Batch>) {
        state.isOpen = true
        for (const file of files) {
          state.byId[file.id] = { ...file, batch, sent: 0, status: 'waiting', onConflict: 'refuse' }
          state.ids.push(file.id)
        }
      },
    },
    /** Throttled by the queue. `at` is in milliseconds since the epoch. */
    advanced(state, { payload: { at, changes } }: PayloadAction<{ at: number; changes: UploadChange[] }>) {
      let moved = 0
      for (const { id, ...change } of changes) {
        const upload = state.byId[id]
        // A cancelled upload stays cancelled.
        if (!upload || !isActive(upload.status)) continue
        if (change.sent !== undefined) moved += Math.max(0, change.sent - upload.sent)
        Object.assign(upload, change)
      }
      if (state.at !== null && at > state.at) {
        const rate = (moved * 1000) / (at - state.at)
        state.rate = state.rate === 0 ? rate : state.rate + SMOOTHING * (rate - state.rate)
      }
      state.at = at
      // `current` gives plain objects: reading thousands of drafts is slow.
      if (!allUploads(current(state)).some(({ status }) => status === 'waiting' || status === 'sending')) {
        state.rate = 0
        state.at = null
      }
    },
    cancelled({ byId }, { payload: id }: PayloadAction<string>) {
      const upload = byId[id]
      if (upload && isActive(upload.status)) upload.status = 'cancelled'
    },
    allCancelled(state) {
      for (const upload of allUploads(state)) if (isActive(upload.status)) upload.status = 'cancelled'
    },
    retried({ byId }, { payload: id }: PayloadAction<string>) {
      const upload = byId[id]
      if (!upload || (upload.status !== 'failed' && upload.status !== 'cancelled')) return
      upload.status = 'waiting'
      upload.sent = 0
      delete upload.problem
    },
    forAllChosen(state, { payload }: PayloadAction<boolean>) {
      state.isForAll = payload
    },
    conflictAnswered(state, { payload: { id, answer } }: PayloadAction<{ id: string; answer: ConflictAnswer }>) {
      const asked = state.byId[id]
      for (const upload of allUploads(state)) {
        if (upload.status !== 'asking' || (upload.id !== id && !(state.isForAll && upload.batch === asked?.batch)))
          continue
        upload.status = answer === 'skip' ? 'skipped' : 'waiting'
        if (answer !== 'skip') upload.onConflict = answer
      }
      // The choice applied to this batch only.
      state.isForAll = false
    },
    panelToggled(state) {
      state.isOpen = !state.isOpen
    },
    /** All uploads are done, and neither pointer nor focus is on the panel (useIdle.ts). */
    panelRested(state) {
      state.isOpen = false
    },
    signOutAsked(state) {
      state.isSignOutAsked = true
    },
    signOutDeclined(state) {
      delete state.isSignOutAsked
    },
    /** Removes the uploads that have ended. */
    cleared(state) {
      state.ids = state.ids.filter((id) => isActive(state.byId[id]?.status ?? 'done'))
      state.byId = Object.fromEntries(allUploads(state).map((upload) => [upload.id, upload]))
      state.isForAll = false
    },
  },
  extraReducers: (builder) => {
    builder.addCase(sessionEnded, () => initialState)
  },
  selectors: {
    selectUploads: createSelector(
      [(state: UploadsState) => state.byId, (state: UploadsState) => state.ids],
      (byId, ids) => ids.flatMap((id) => byId[id] ?? []),
    ),
    selectIsOpen: (state) => state.isOpen,
    selectIsForAll: (state) => state.isForAll,
    selectIsSignOutAsked: (state) => state.isSignOutAsked === true,
    selectRate: (state) => state.rate,
  },
})

declare module '../../../app/rootReducer' {
  interface LazySlices {
    uploads: UploadsState
  }
}

export const {
  filesChosen,
  advanced: uploadsProgressed,
  cancelled: uploadCancelled,
  allCancelled: allUploadsCancelled,
  retried: uploadRetried,
  forAllChosen,
  conflictAnswered,
  panelToggled,
  panelRested: panelAutoCollapsed,
  signOutAsked: signOutRequested,
  signOutDeclined,
  cleared: endedUploadsCleared,
} = uploadSlice.actions
export const { selectUploads, selectIsOpen, selectIsForAll, selectIsSignOutAsked, selectRate } =
  uploadSlice.injectInto(rootReducer).selectors

/** Product §4: uploading, progress and error of all uploads together. Sizes are in bytes. */
export const selectUploadState = createSelector([selectUploads], (uploads) => {
  const counted = uploads.filter(({ status }) => status !== 'cancelled' && status !== 'skipped')
  const total = counted.reduce((sum, { size }) => sum + size, 0)
  const sent = counted.reduce(
    (sum, { sent, size, status }) => sum + (status === 'done' ? size : Math.min(sent, size)),
    0,
  )
  const done = counted.filter(({ status }) => status === 'done').length
  return {
    uploading: uploads.some(({ status }) => isActive(status)),
    count: counted.length,
    done,
    total,
    sent,
    /** 0 to 1. If all files are empty, their number is counted. */
    progress: total > 0 ? sent / total : counted.length > 0 ? done / counted.length : 1,
    error: uploads.find(({ status }) => status === 'failed')?.problem ?? null,
  }
})
