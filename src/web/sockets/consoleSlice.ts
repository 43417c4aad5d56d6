import type { Draft, PayloadAction } from '@reduxjs/toolkit'
import { createAction, createSlice, original } from '@reduxjs/toolkit'
import type { ConsoleRequest } from '../../contract/consoleChannel'
import { sessionEnded } from '../facts'
import type { ConsoleLine, LineBuffer } from './lineBuffer'
import { append, cleared, emptyBuffer } from './lineBuffer'

export type ConsoleTarget = { deployment: string; podName: string }
export type PowerAction = Extract<ConsoleRequest, { type: 'power' }>['action']

export type ConsoleState = {
  target: ConsoleTarget | null
  connection: 'connecting' | 'open' | 'closed'
  /** It was lost or could not be made, and is tried again. */
  isLost: boolean
  /** Why it is not tried again: there is no jar to run, or the session is over. */
  end: 'jarMissing' | 'sessionEnded' | null
  buffer: LineBuffer
}

const initialState: ConsoleState = { target: null, connection: 'closed', isLost: false, end: null, buffer: emptyBuffer }

/** What is frozen is taken as it is. */
const asDraft = <Value>(value: Value) => value as Draft<Value>

/** Asks the middleware to send; `dispatch` answers whether it left. */
export const powerRequested = createAction<PowerAction>('console/powerRequested')
/** @param plainCommands first words of commands that an action log keeps whole, as the definition names them. */
export const commandSent = createAction(
  'console/commandSent',
  (command: string, plainCommands: readonly string[] = []) => ({ payload: command, meta: { plainCommands } }),
)
/** The instance is seen to run: a console that was ended for want of a jar has something to show again. */
export const instanceRevived = createAction('console/instanceRevived')
/** What the server says about the instance, beside its lines. */
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
      state.buffer = asDraft(cleared(state.buffer))
    },
  },
  extraReducers: (builder) => {
    // Nothing that one user was shown may wait for the next.
    builder.addCase(sessionEnded, () => asDraft(initialState))
  },
  selectors: {
    selectConnection: (state) => state.connection,
    selectIsLost: (state) => state.isLost,
    selectEnd: (state) => state.end,
    selectBuffer: (state) => state.buffer,
  },
})

export const { consoleOpened, consoleLeft, attempted, opened, closed, linesReceived, linesCleared } =
  consoleSlice.actions
export const { selectConnection, selectIsLost, selectEnd, selectBuffer } = consoleSlice.selectors
