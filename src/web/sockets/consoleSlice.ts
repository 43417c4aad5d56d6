import type { Draft, PayloadAction } from '@reduxjs/toolkit'
import { createAction, createSlice, original } from '@reduxjs/toolkit'
import type { ConsoleRequest } from '../../contract/sockets/consoleChannel'
import { rootReducer } from '../app/rootReducer'
import { sessionEnded } from '../facts'
import type { ConsoleLine, LineBuffer } from './lineBuffer'
import { append, COMMAND_MARK, withoutLines, emptyBuffer } from './lineBuffer'
import type { Pane, Panes } from './panes'
import { insidePanes, outsidePanes, paneOf } from './panes'
import type { ConsoleEnd, ConsoleTarget } from './reconnectingConsole'

export type PowerAction = Extract<ConsoleRequest, { type: 'power' }>['action']

export type ConsoleState = {
  target: ConsoleTarget | null
  connection: 'connecting' | 'open' | 'closed'
  /** The connection was lost or failed, and is being retried. */
  isLost: boolean
  end: ConsoleEnd | null
  /**
   * The submitted command, until it is sent or refused. It is masked in action logs, like the payload of
   * `commandSubmitted`.
   */
  submitted: string | null
  buffer: LineBuffer
}

const initialState: ConsoleState = {
  target: null,
  connection: 'closed',
  isLost: false,
  end: null,
  submitted: null,
  buffer: emptyBuffer,
}

/** Shown in a pane. The command line of the instance page cannot send while its console is not connected. */
const REFUSAL = Object.freeze({
  type: 'error' as const,
  content: '[System] The command was not sent: this console is not connected.',
})

/** Frozen values need no draft of immer. */
const asDraft = <Value>(value: Value) => value as Draft<Value>

/** Handled by the middleware. */
export const powerRequested = createAction<PowerAction>('console/powerRequested')
/**
 * Handled by the middleware, which dispatches `commandSent` or `commandRefused` after it.
 * @param plainCommands first words of commands that an action log keeps in full, from the deployment's definition
 */
export const commandSubmitted = createAction(
  'console/commandSubmitted',
  (command: string, plainCommands: readonly string[] = []) => ({ payload: command, meta: { plainCommands } }),
)
export const commandSent = createAction('console/commandSent')
/** The console was not connected. */
export const commandRefused = createAction('console/commandRefused')
/** The instance runs again, so a console that ended because of a missing jar can be reopened. */
export const instanceRevived = createAction('console/instanceRevived')
/** The state of the instance as the console's server reports it. */
export const stateReported = createAction<ConsoleTarget & { state: string }>('console/stateReported')

export const consoleSlice = createSlice({
  name: 'console',
  initialState,
  reducers: {
    consoleOpened: (_state, { payload }: PayloadAction<ConsoleTarget>) =>
      asDraft({ ...initialState, target: payload, connection: 'connecting' as const }),
    consoleLeft: () => asDraft(initialState),
    attempted(state) {
      state.connection = 'connecting'
      state.end = null
    },
    opened(state) {
      state.connection = 'open'
      state.isLost = false
    },
    closed(state, { payload: end }: PayloadAction<ConsoleState['end']>) {
      state.connection = 'closed'
      state.end = end
      state.isLost = end === null
    },
    linesReceived(state, { payload }: PayloadAction<readonly ConsoleLine[]>) {
      state.buffer = asDraft(append(original(state)?.buffer ?? emptyBuffer, payload))
    },
    linesCleared(state) {
      state.buffer = asDraft(withoutLines(state.buffer))
    },
  },
  extraReducers: (builder) => {
    builder
      .addCase(commandSubmitted, (state, { payload }) => {
        state.submitted = payload
      })
      .addCase(commandSent, (state) => {
        // The server does not repeat commands. The line is created here rather than received as output, so that action
        // logs mask it like the command.
        const line = Object.freeze({ type: 'command' as const, content: COMMAND_MARK + (state.submitted ?? '') })
        state.buffer = asDraft(append(original(state)?.buffer ?? emptyBuffer, [line]))
        state.submitted = null
      })
      .addCase(commandRefused, (state, action) => {
        if (paneOf(action) !== undefined)
          state.buffer = asDraft(append(original(state)?.buffer ?? emptyBuffer, [REFUSAL]))
        state.submitted = null
      })
      // Console output shown to one user must not reach the next.
      .addCase(sessionEnded, () => asDraft(initialState))
  },
})

declare module '../app/rootReducer' {
  interface LazySlices {
    console: ConsoleState
    consolePanes: Panes<ConsoleState>
  }
}

export const {
  consoleOpened,
  consoleLeft,
  attempted: consoleConnecting,
  opened: consoleConnected,
  closed: consoleDisconnected,
  linesReceived,
  linesCleared,
} = consoleSlice.actions

const reducer = consoleSlice.reducer
rootReducer.inject({ reducerPath: 'console', reducer: outsidePanes(reducer) })
rootReducer.inject({
  reducerPath: 'consolePanes',
  reducer: insidePanes(reducer, consoleOpened.match, consoleLeft.match),
})

type WithConsoles = { console?: ConsoleState; consolePanes?: Panes<ConsoleState> }
/** Creates a selector for the console in a pane, or of the instance page. */
const selectorOf =
  <Value>(select: (state: ConsoleState) => Value) =>
  ({ console, consolePanes }: WithConsoles, pane?: Pane): Value =>
    select((pane === undefined ? console : consolePanes?.[pane]) ?? initialState)

export const selectTarget = selectorOf((state) => state.target)
export const selectConnection = selectorOf((state) => state.connection)
export const selectIsLost = selectorOf((state) => state.isLost)
export const selectEnd = selectorOf((state) => state.end)
export const selectBuffer = selectorOf((state) => state.buffer)
