import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice, original } from '@reduxjs/toolkit'
import type { Overview } from '../../api/network'
import { networkApi } from '../../api/network'
import { rootReducer } from '../../app/rootReducer'
import { sessionEnded } from '../../facts'

export const VIEWS = ['cards', 'rows', 'compact'] as const
export type View = (typeof VIEWS)[number]
export const FILTERS = ['all', 'online', 'attention', 'offline'] as const
export type Filter = (typeof FILTERS)[number]

/** The preferences that survive reloads (overviewPreferences.ts). */
export type Preferences = {
  /** Null until the user chooses: the number of instances decides. */
  view: View | null
  filter: Filter
  /** Names of the collapsed deployments. */
  collapsed: string[]
}

export type OverviewState = Preferences & {
  query: string
  /** The deployment whose menu is open. */
  menu: string | null
  /** Uids of the selected instances; null while none can be selected. */
  selected: string[] | null
  /** CPU in percent at the last polls by uid, oldest first. */
  cpu: Record<string, readonly number[]>
}

/** Number of polls that a sparkline shows: two minutes. */
export const MAX_SAMPLES = 40

const initialState: OverviewState = {
  view: null,
  filter: 'all',
  collapsed: [],
  query: '',
  menu: null,
  selected: null,
  cpu: {},
}

const overviewSlice = createSlice({
  name: 'overview',
  initialState,
  reducers: {
    preferencesRecalled: (state, { payload }: PayloadAction<Preferences>) => ({ ...state, ...payload }),
    viewChosen(state, { payload }: PayloadAction<View>) {
      state.view = payload
    },
    filterChosen(state, { payload }: PayloadAction<Filter>) {
      state.filter = payload
    },
    searched(state, { payload }: PayloadAction<string>) {
      state.query = payload
    },
    /** Shows all instances again. */
    filtersCleared(state) {
      state.filter = 'all'
      state.query = ''
    },
    sectionToggled(state, { payload: name }: PayloadAction<string>) {
      const at = state.collapsed.indexOf(name)
      if (at === -1) state.collapsed.push(name)
      else state.collapsed.splice(at, 1)
    },
    /** The payload holds the names of all deployments. */
    allCollapsed(state, { payload }: PayloadAction<string[]>) {
      state.collapsed = payload
    },
    allExpanded(state) {
      state.collapsed = []
    },
    menuOpened(state, { payload }: PayloadAction<string>) {
      state.menu = payload
    },
    menuClosed(state) {
      state.menu = null
    },
    selectionStarted(state) {
      state.selected = []
    },
    instanceSelected({ selected }, { payload: uid }: PayloadAction<string>) {
      if (selected && !selected.includes(uid)) selected.push(uid)
    },
    instanceDeselected({ selected }, { payload: uid }: PayloadAction<string>) {
      if (selected?.includes(uid)) selected.splice(selected.indexOf(uid), 1)
    },
    selectionEnded(state) {
      state.selected = null
    },
  },
  extraReducers: (builder) => {
    builder
      // Names that one user sees must not reach the next.
      .addCase(sessionEnded, ({ view, filter }) => ({ ...initialState, view, filter }))
      .addMatcher(networkApi.endpoints.getOverview.matchFulfilled, (state, { payload }) => {
        // Uses the original, because immer would wrap each of a thousand arrays in a draft.
        const cpu = withSamples(original(state)?.cpu ?? {}, payload)
        state.cpu = cpu
        // Instances that are gone take no place among the selected ones.
        if (state.selected?.some((uid) => !cpu[uid])) state.selected = state.selected.filter((uid) => cpu[uid])
      })
  },
  selectors: {
    selectView: (state) => state.view,
    selectFilter: (state) => state.filter,
    selectQuery: (state) => state.query,
    selectCollapsed: (state) => state.collapsed,
    selectMenu: (state) => state.menu,
    selectSelected: (state) => state.selected,
    selectCpuSamples: (state) => state.cpu,
  },
})

/** Adds a sample of each instance. Drops instances that are gone, unless some could not be loaded. */
function withSamples(known: OverviewState['cpu'], { sections }: Overview): Record<string, number[]> {
  const isComplete = sections.every(({ failure }) => !failure)
  const samples = (isComplete ? {} : { ...known }) as Record<string, number[]>
  for (const { instances } of sections)
    for (const { uid, cpu } of instances)
      samples[uid] = [...(known[uid] ?? []).slice(1 - MAX_SAMPLES), typeof cpu === 'number' ? cpu : 0]
  return samples
}

declare module '../../app/rootReducer' {
  interface LazySlices {
    overview: OverviewState
  }
}

export const {
  preferencesRecalled,
  viewChosen,
  filterChosen,
  searched,
  filtersCleared,
  sectionToggled,
  allCollapsed,
  allExpanded,
  menuOpened,
  menuClosed,
  selectionStarted,
  instanceSelected,
  instanceDeselected,
  selectionEnded,
} = overviewSlice.actions
export const { selectView, selectFilter, selectQuery, selectCollapsed, selectMenu, selectSelected, selectCpuSamples } =
  overviewSlice.injectInto(rootReducer).selectors
