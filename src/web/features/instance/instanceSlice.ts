import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { sessionEnded } from '../../facts'
import { commandSent, consoleOpened, linesCleared } from '../../sockets/consoleSlice'

/** Of the command history (per instance). */
const KEPT_COMMANDS = 100
export const AUTOSCROLL_KEY = 'console-autoscroll'

/** `offset` in pixels. */
export type Position = { line: number; offset: number }

export type InstanceViewState = {
  killAsked: boolean
  /** Oldest first. */
  commands: string[]
  prefersAutoScroll: boolean
  autoScroll: boolean
  /** Number of the line that came next when the reader scrolled away. */
  readUpTo: number
  /** Where the reader is who scrolled away: the line at the top, and how much of it is above. */
  position: Position
  wrap: boolean
  query: string
  /** Number of the found line that is shown. */
  found: number | null
}

const initialState: InstanceViewState = {
  killAsked: false,
  commands: [],
  prefersAutoScroll: true,
  autoScroll: true,
  readUpTo: 0,
  position: { line: 0, offset: 0 },
  wrap: true,
  query: '',
  found: null,
}

/** Where the reader goes, and the number of the line that comes next. */
type Reader = { position: Position; next: number }

function leaveBottom(state: InstanceViewState, { position, next }: Reader) {
  if (state.autoScroll) state.readUpTo = next
  state.autoScroll = false
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
    killAnswered(state) {
      state.killAsked = false
    },
    commandsRecalled(state, { payload }: PayloadAction<string[]>) {
      state.commands = payload
    },
    /** Scrolling changes it for the moment; what was chosen is kept (addConsole.ts). */
    autoScrollChosen(state, { payload: { on, ...reader } }: PayloadAction<{ on: boolean } & Reader>) {
      if (!on) leaveBottom(state, reader)
      state.autoScroll = on
      state.prefersAutoScroll = on
    },
    scrolledAway: (state, { payload }: PayloadAction<Reader>) => leaveBottom(state, payload),
    scrolled(state, { payload }: PayloadAction<Position>) {
      state.position = payload
    },
    bottomReached(state) {
      state.autoScroll = true
    },
    wrapToggled(state) {
      state.wrap = !state.wrap
    },
    searched(state, { payload }: PayloadAction<string>) {
      state.query = payload
      state.found = null
    },
    foundShown(state, { payload: { line, ...reader } }: PayloadAction<{ line: number } & Reader>) {
      leaveBottom(state, reader)
      state.found = line
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
      })
      .addCase(sessionEnded, afresh)
  },
  selectors: {
    selectKillAsked: (state) => state.killAsked,
    selectCommands: (state) => state.commands,
    selectAutoScroll: (state) => state.autoScroll,
    selectReadUpTo: (state) => state.readUpTo,
    selectPosition: (state) => state.position,
    selectWrap: (state) => state.wrap,
    selectQuery: (state) => state.query,
    selectFound: (state) => state.found,
  },
})

export const {
  killAsked,
  killAnswered,
  commandsRecalled,
  autoScrollChosen,
  scrolledAway,
  scrolled,
  bottomReached,
  wrapToggled,
  searched,
  foundShown,
} = instanceSlice.actions
export const {
  selectKillAsked,
  selectCommands,
  selectAutoScroll,
  selectReadUpTo,
  selectPosition,
  selectWrap,
  selectQuery,
  selectFound,
} = instanceSlice.selectors
