import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { sessionEnded } from '../../facts'
import { commandSent, consoleOpened, linesCleared } from '../../sockets/consoleSlice'

/** Of the command history (per instance). */
const KEPT_COMMANDS = 100
export const AUTOSCROLL_KEY = 'console-autoscroll'

/** `offset` in pixels. */
export type Position = { line: number; offset: number }
/** Of what is searched: the number of its line, and the character of the line's text at which it begins. */
export type Occurrence = { line: number; at: number }
/** Before a character of a line's text. */
export type Place = { line: number; column: number }
/** From where it was begun to where it goes. */
export type LogSelection = { anchor: Place; focus: Place }

export type InstanceViewState = {
  killAsked: boolean
  /** The crash whose capsule is shown, by its time. */
  capsuleOf: number | null
  /** Oldest first. */
  commands: string[]
  prefersAutoScroll: boolean
  autoScroll: boolean
  isPaused: boolean
  /** The reader left the end, and what is read must not move. */
  isAway: boolean
  /** Without auto-scroll, where the reader is: the line at the top, and how much of it is above. */
  position: Position
  wrap: boolean
  query: string
  /** The one that is shown. */
  found: Occurrence | null
  selection: LogSelection | null
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
}

function leaveEnd(state: InstanceViewState, position: Position) {
  state.autoScroll = false
  state.isAway = true
  state.position = position
}

const afresh = ({ prefersAutoScroll, wrap }: InstanceViewState): InstanceViewState => ({
  ...initialState,
  prefersAutoScroll,
  autoScroll: prefersAutoScroll,
  wrap,
})

/** How the instance page is looked at. */
export const instanceSlice = createSlice({
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
      /** @param plainCommands as of `commandSent`. */
      prepare: (commands: string[], plainCommands: readonly string[] = []) => ({
        payload: commands,
        meta: { plainCommands },
      }),
      reducer(state, { payload }: PayloadAction<string[]>) {
        state.commands = payload
      },
    },
    /** Scrolling changes it for the moment; what was chosen is kept (consolePart.ts). */
    autoScrollChosen(state, { payload: { on, position } }: PayloadAction<{ on: boolean; position: Position }>) {
      if (!on) leaveEnd(state, position)
      state.autoScroll = on
      state.isAway = !on
      state.prefersAutoScroll = on
    },
    autoScrollRecalled(state, { payload: on }: PayloadAction<boolean>) {
      state.autoScroll = on
      state.prefersAutoScroll = on
    },
    scrolledAway: (state, { payload }: PayloadAction<Position>) => leaveEnd(state, payload),
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
    foundShown(
      state,
      { payload: { occurrence, position } }: PayloadAction<{ occurrence: Occurrence; position: Position }>,
    ) {
      leaveEnd(state, position)
      state.found = occurrence
    },
    textSelected(state, { payload }: PayloadAction<LogSelection>) {
      state.selection = payload
    },
    selectionEnded(state) {
      state.selection = null
    },
  },
  extraReducers: (builder) => {
    builder
      .addCase(consoleOpened, afresh)
      .addCase(commandSent, ({ commands }, { payload }) => {
        if (commands.at(-1) !== payload) commands.push(payload)
        if (commands.length > KEPT_COMMANDS) commands.shift()
      })
      .addCase(linesCleared, (state) => {
        state.found = null
        state.selection = null
        state.isPaused = false
        state.isAway = false
        state.autoScroll = state.prefersAutoScroll
      })
      .addCase(sessionEnded, afresh)
  },
  selectors: {
    selectKillAsked: (state) => state.killAsked,
    selectCapsuleOf: (state) => state.capsuleOf,
    selectCommands: (state) => state.commands,
    selectAutoScroll: (state) => state.autoScroll,
    selectIsPaused: (state) => state.isPaused,
    selectIsAway: (state) => state.isAway,
    selectPosition: (state) => state.position,
    selectWrap: (state) => state.wrap,
    selectQuery: (state) => state.query,
    selectFound: (state) => state.found,
    selectSelection: (state) => state.selection,
  },
})

export const {
  killAsked,
  capsuleAsked,
  killAnswered,
  commandsRecalled,
  autoScrollChosen,
  autoScrollRecalled,
  scrolledAway,
  bottomReached,
  paused,
  resumed,
  wrapToggled,
  searched,
  foundShown,
  textSelected,
  selectionEnded,
} = instanceSlice.actions
export const {
  selectKillAsked,
  selectCapsuleOf,
  selectCommands,
  selectAutoScroll,
  selectIsPaused,
  selectIsAway,
  selectPosition,
  selectWrap,
  selectQuery,
  selectFound,
  selectSelection,
} = instanceSlice.selectors
