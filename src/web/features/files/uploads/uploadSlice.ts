import type { PayloadAction } from '@reduxjs/toolkit'
import { createSelector, createSlice, current } from '@reduxjs/toolkit'
import type { OnConflict } from '../../../../contract/file'
import { sessionEnded } from '../../../facts'

/** `asking`: something of that name exists, and the user says what to do. */
export type UploadStatus = 'waiting' | 'sending' | 'asking' | 'done' | 'failed' | 'cancelled' | 'skipped'
export type Upload = {
  id: string
  /** What was chosen or dropped together. */
  batch: string
  name: string
  /** Where to, on the wire. */
  directory: string
  /** Bytes. */
  size: number
  sent: number
  status: UploadStatus
  onConflict: OnConflict
  problem?: string
}
export type UploadChange = Pick<Upload, 'id'> & Partial<Pick<Upload, 'sent' | 'status' | 'onConflict' | 'problem'>>
export type ConflictAnswer = 'replace' | 'keepBoth' | 'skip'

export type UploadsState = {
  byId: Record<string, Upload>
  ids: string[]
  isOpen: boolean
  /** Whether the answer to the question that is asked holds for all of its kind. */
  isForAll: boolean
  /** Bytes a second, smoothed. */
  rate: number
  /** The user wants to sign out, and is asked whether these are to end with it. */
  isSignOutAsked?: true
  /** When the last progress was told, in milliseconds since the epoch. */
  at: number | null
}

const initialState: UploadsState = { byId: {}, ids: [], isOpen: true, isForAll: false, rate: 0, at: null }

/** How much the newest measure counts. */
const SMOOTHING = 0.3

export const isUnder = (status: UploadStatus) => status === 'waiting' || status === 'sending' || status === 'asking'
const all = ({ byId, ids }: UploadsState) => ids.flatMap((id) => byId[id] ?? [])

export const uploadSlice = createSlice({
  name: 'uploads',
  initialState,
  reducers: {
    /** `directories` are to be made first, parents before what is in them. */
    filesChosen: {
      prepare: (batch: string, files: Pick<Upload, 'id' | 'name' | 'directory' | 'size'>[], directories: string[]) => ({
        payload: { batch, files, directories },
      }),
      reducer(
        state,
        {
          payload: { batch, files },
        }: PayloadAction<{
          batch: string
          files: Pick<Upload, 'id' | 'name' | 'directory' | 'size'>[]
          directories: string[]
        }>,
      ) {
        state.isOpen = true
        for (const file of files) {
          state.byId[file.id] = { ...file, batch, sent: 0, status: 'waiting', onConflict: 'refuse' }
          state.ids.push(file.id)
        }
      },
    },
    /** At most a few times a second, whatever goes on. `at` in milliseconds since the epoch. */
    advanced(state, { payload: { at, changes } }: PayloadAction<{ at: number; changes: UploadChange[] }>) {
      let moved = 0
      for (const { id, ...change } of changes) {
        const upload = state.byId[id]
        // Whoever was cancelled meanwhile stays so.
        if (!upload || !isUnder(upload.status)) continue
        if (change.sent !== undefined) moved += Math.max(0, change.sent - upload.sent)
        Object.assign(upload, change)
      }
      if (state.at !== null && at > state.at) {
        const rate = (moved * 1000) / (at - state.at)
        state.rate = state.rate === 0 ? rate : state.rate + SMOOTHING * (rate - state.rate)
      }
      state.at = at
      // As plain objects: thousands of drafts would take long.
      if (!all(current(state)).some(({ status }) => status === 'waiting' || status === 'sending')) {
        state.rate = 0
        state.at = null
      }
    },
    cancelled({ byId }, { payload: id }: PayloadAction<string>) {
      const upload = byId[id]
      if (upload && isUnder(upload.status)) upload.status = 'cancelled'
    },
    allCancelled(state) {
      for (const upload of all(state)) if (isUnder(upload.status)) upload.status = 'cancelled'
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
      for (const upload of all(state)) {
        if (upload.status !== 'asking' || (upload.id !== id && !(state.isForAll && upload.batch === asked?.batch)))
          continue
        upload.status = answer === 'skip' ? 'skipped' : 'waiting'
        if (answer !== 'skip') upload.onConflict = answer
      }
      // It was said of these; the next question is another one.
      state.isForAll = false
    },
    panelToggled(state) {
      state.isOpen = !state.isOpen
    },
    /** All was done, and nobody looks at it. */
    panelRested(state) {
      state.isOpen = false
    },
    signOutAsked(state) {
      state.isSignOutAsked = true
    },
    signOutDeclined(state) {
      delete state.isSignOutAsked
    },
    /** What has ended is not shown any more. */
    cleared(state) {
      state.ids = state.ids.filter((id) => isUnder(state.byId[id]?.status ?? 'done'))
      state.byId = Object.fromEntries(all(state).map((upload) => [upload.id, upload]))
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

export const {
  filesChosen,
  advanced,
  cancelled,
  allCancelled,
  retried,
  forAllChosen,
  conflictAnswered,
  panelToggled,
  panelRested,
  signOutAsked,
  signOutDeclined,
  cleared,
} = uploadSlice.actions
export const { selectUploads, selectIsOpen, selectIsForAll, selectIsSignOutAsked, selectRate } = uploadSlice.selectors

/** Product §4: uploading, progress and error, of all together. Bytes. */
export const selectUploadState = createSelector([selectUploads], (uploads) => {
  const counted = uploads.filter(({ status }) => status !== 'cancelled' && status !== 'skipped')
  const total = counted.reduce((sum, { size }) => sum + size, 0)
  const sent = counted.reduce(
    (sum, { sent, size, status }) => sum + (status === 'done' ? size : Math.min(sent, size)),
    0,
  )
  const done = counted.filter(({ status }) => status === 'done').length
  return {
    uploading: uploads.some(({ status }) => isUnder(status)),
    count: counted.length,
    done,
    total,
    sent,
    /** 0 to 1. Empty files count by their number. */
    progress: total > 0 ? sent / total : counted.length > 0 ? done / counted.length : 1,
    error: uploads.find(({ status }) => status === 'failed')?.problem ?? null,
  }
})
