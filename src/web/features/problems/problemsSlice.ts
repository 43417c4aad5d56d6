import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../../app/rootReducer'
import { addAppListeners } from '../../app/appListeners'
import type { Problem } from '../../facts'
import { problemLogged, sessionEnded } from '../../facts'

/** A problem and how often it occurred. Its time is that of the last occurrence. */
export type LoggedProblem = Problem & { count: number }

export type ProblemsState = {
  /** Newest first. */
  list: LoggedProblem[]
  /** Number of problems since the list was last open. */
  unseen: number
  open: boolean
}

/** Limit of the list; the oldest problems are dropped. */
const MAX_PROBLEMS = 100

const initialState: ProblemsState = { list: [], unseen: 0, open: false }

/** The problem log of this session: every failure, including those that get no toast (product §8). */
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
      .addCase(problemLogged, (state, { payload }) => {
        const known = state.list.find(({ what, reason }) => what === payload.what && reason === payload.reason)
        const problem = { ...payload, id: known?.id ?? payload.id, count: (known?.count ?? 0) + 1 }
        state.list = [problem, ...state.list.filter(({ id }) => id !== problem.id)].slice(0, MAX_PROBLEMS)
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

declare module '../../app/rootReducer' {
  interface LazySlices {
    problems: ProblemsState
  }
}

export const { problemsOpened, problemsClosed } = problemsSlice.actions
export const { selectProblems, selectUnseenProblems, selectProblemsOpen } =
  problemsSlice.injectInto(rootReducer).selectors

addAppListeners((startListening) => {
  startListening({
    actionCreator: problemLogged,
    effect: ({ payload: { what, reason } }) => console.warn(`${what}: ${reason}`),
  })
})
