import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../../app/rootReducer'
import { sessionEnded } from '../../facts'
import { commandSent, commandSubmitted, consoleLeft, consoleOpened, linesCleared } from '../../sockets/consoleSlice'
import type { Pane, Panes } from '../../sockets/panes'
import { insidePanes, outsidePanes } from '../../sockets/panes'

/** Size of the command history of an instance. */
const MAX_COMMANDS = 100
export const AUTOSCROLL_KEY = 'console-autoscroll'

/** `offset` is in pixels. */
export type Position = { line: number; offset: number }
/** A search match: the number of its line and its offset in the text of the line. */
export type Match = { line: number; at: number }
/** A text position: before the character at `column`. */
export type Place = { line: number; column: number }
/** `focus` may be before `anchor`. */
export type LogSelection = { anchor: Place; focus: Place }

/** The shown time range of the metrics. */
export type MetricsRange = 'quarter' | 'hour'

export type InstanceViewState = {
  killAsked: boolean
  /** Time of the crash whose capsule is shown. */
  capsuleOf: number | null
  /** Oldest first. */
  commands: string[]
  prefersAutoScroll: boolean
  autoScroll: boolean
  isPaused: boolean
  /** The reader scrolled up, so the displayed lines are frozen. */
  isAway: boolean
  /** Scroll position without auto-scroll: the top line, and how many pixels of it are scrolled out of view. */
  position: Position
  wrap: boolean
  query: string
  /** The current search match. */
  found: Match | null
  selection: LogSelection | null
  range: MetricsRange
}

const initialState: InstanceViewState = {
  killAsked: false,
  capsuleOf: null,
  commands: [],
  prefersAutoScroll: true,
  autoScroll: true,
  isPaused: false,
  isAway: false,
  position: { line: 0, offset: 0 },
  wrap: true,
  query: '',
  found: null,
  selection: null,
  range: 'hour',
}

function scrollAway(state: InstanceViewState, position: Position) {
  state.autoScroll = false
  state.isAway = true
  state.position = position
}

const resetView = ({ prefersAutoScroll, wrap, range }: InstanceViewState): InstanceViewState => ({
  ...initialState,
  prefersAutoScroll,
  autoScroll: prefersAutoScroll,
  wrap,
  range,
})

/** View state of the instance page and, for consoles, of each pane. */
const instanceSlice = createSlice({
  name: 'instance',
  initialState,
  reducers: {
    killAsked(state) {
      state.killAsked = true
    },
    /** The payload is the time of the crash. */
    capsuleAsked(state, { payload }: PayloadAction<number>) {
      state.capsuleOf = payload
    },
    killAnswered(state) {
      state.killAsked = false
    },
    commandsRecalled: {
      /** @param plainCommands see `commandSubmitted`. */
      prepare: (commands: string[], plainCommands: readonly string[] = []) => ({
        payload: commands,
        meta: { plainCommands },
      }),
      reducer(state, { payload }: PayloadAction<string[]>) {
        state.commands = payload
      },
    },
    /** Scrolling changes auto-scroll temporarily; this choice is stored (consoleListeners.ts). */
    autoScrollChosen(state, { payload: { on, position } }: PayloadAction<{ on: boolean; position: Position }>) {
      if (!on) scrollAway(state, position)
      state.autoScroll = on
      state.isAway = !on
      state.prefersAutoScroll = on
    },
    autoScrollRecalled(state, { payload: on }: PayloadAction<boolean>) {
      state.autoScroll = on
      state.prefersAutoScroll = on
    },
    scrolledAway: (state, { payload }: PayloadAction<Position>) => scrollAway(state, payload),
    bottomReached(state) {
      state.autoScroll = true
      state.isAway = false
    },
    paused(state) {
      state.isPaused = true
    },
    resumed(state) {
      state.isPaused = false
    },
    wrapToggled(state) {
      state.wrap = !state.wrap
    },
    searched(state, { payload }: PayloadAction<string>) {
      state.query = payload
      state.found = null
    },
    foundShown(state, { payload: { occurrence, position } }: PayloadAction<{ occurrence: Match; position: Position }>) {
      scrollAway(state, position)
      state.found = occurrence
    },
    textSelected(state, { payload }: PayloadAction<LogSelection>) {
      state.selection = payload
    },
    selectionEnded(state) {
      state.selection = null
    },
    rangeChosen(state, { payload }: PayloadAction<MetricsRange>) {
      state.range = payload
    },
  },
  extraReducers: (builder) => {
    builder
      .addCase(consoleOpened, resetView)
      // The page of the next instance is shown before its console is opened, or without one.
      .addCase(consoleLeft, (state) => {
        state.killAsked = false
      })
      .addCase(commandSubmitted, ({ commands }, { payload }) => {
        if (commands.at(-1) !== payload) commands.push(payload)
        if (commands.length > MAX_COMMANDS) commands.shift()
      })
      // Sending a command resumes the display, so that the response is visible.
      .addCase(commandSent, (state) => {
        state.isPaused = false
        state.isAway = false
        state.autoScroll = true
      })
      .addCase(linesCleared, (state) => {
        state.found = null
        state.selection = null
        state.isPaused = false
        state.isAway = false
        state.autoScroll = state.prefersAutoScroll
      })
      .addCase(sessionEnded, resetView)
  },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    instance: InstanceViewState
    instancePanes: Panes<InstanceViewState>
  }
}

export const {
  killAsked: killRequested,
  capsuleAsked: crashCapsuleRequested,
  killAnswered: killDialogClosed,
  commandsRecalled: commandsLoaded,
  autoScrollChosen,
  autoScrollRecalled: autoScrollLoaded,
  scrolledAway,
  bottomReached,
  paused: consolePaused,
  resumed: consoleResumed,
  wrapToggled,
  searched,
  foundShown: matchShown,
  textSelected,
  selectionEnded,
  rangeChosen,
} = instanceSlice.actions

rootReducer.inject({ reducerPath: 'instance', reducer: outsidePanes(instanceSlice.reducer) })
rootReducer.inject({
  reducerPath: 'instancePanes',
  reducer: insidePanes(instanceSlice.reducer, consoleOpened.match, consoleLeft.match),
})

type WithViews = { instance?: InstanceViewState; instancePanes?: Panes<InstanceViewState> }
/** Creates a selector for the view of a pane, or of the instance page. */
const selectorOf =
  <Value>(select: (state: InstanceViewState) => Value) =>
  ({ instance, instancePanes }: WithViews, pane?: Pane): Value =>
    select((pane === undefined ? instance : instancePanes?.[pane]) ?? initialState)

export const selectIsKillRequested = selectorOf((state) => state.killAsked)
export const selectShownCapsule = selectorOf((state) => state.capsuleOf)
export const selectCommands = selectorOf((state) => state.commands)
export const selectAutoScroll = selectorOf((state) => state.autoScroll)
export const selectIsPaused = selectorOf((state) => state.isPaused)
export const selectIsScrolledUp = selectorOf((state) => state.isAway)
export const selectPosition = selectorOf((state) => state.position)
export const selectWrap = selectorOf((state) => state.wrap)
export const selectQuery = selectorOf((state) => state.query)
export const selectCurrentMatch = selectorOf((state) => state.found)
export const selectSelection = selectorOf((state) => state.selection)
export const selectRange = selectorOf((state) => state.range)
