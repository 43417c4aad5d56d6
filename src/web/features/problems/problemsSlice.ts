import { createSlice } from '@reduxjs/toolkit'
import type { Problem } from '../../facts'
import { problemMet, sessionEnded } from '../../facts'

/** A problem, and how often it was met. Its time is that of the last one. */
export type LoggedProblem = Problem & { count: number }

export type ProblemsState = {
  /** The newest first. */
  list: LoggedProblem[]
  /** How many were met since the list was last looked at. */
  unseen: number
  open: boolean
}

/** The oldest are forgotten. */
const KEPT = 100

const initialState: ProblemsState = { list: [], unseen: 0, open: false }

/** The problem log of this session: every failure, also those that the product shows nowhere else (product §8). */
export const problemsSlice = createSlice({
  name: 'problems',
  initialState,
  reducers: {
    problemsOpened(state) {
      state.open = true
      state.unseen = 0
    },
    problemsClosed(state) {
      state.open = false
    },
  },
  extraReducers: (builder) => {
    builder
      .addCase(problemMet, (state, { payload }) => {
        const at = state.list.findIndex(({ what, reason }) => what === payload.what && reason === payload.reason)
        const [known] = at === -1 ? [] : state.list.splice(at, 1)
        state.list.unshift({ ...payload, id: known?.id ?? payload.id, count: (known?.count ?? 0) + 1 })
        state.list.splice(KEPT)
        if (!state.open) state.unseen++
      })
      .addCase(sessionEnded, () => initialState)
  },
  selectors: {
    selectProblems: (state) => state.list,
    selectUnseenProblems: (state) => state.unseen,
    selectProblemsOpen: (state) => state.open,
  },
})

export const { problemsOpened, problemsClosed } = problemsSlice.actions
export const { selectProblems, selectUnseenProblems, selectProblemsOpen } = problemsSlice.selectors
