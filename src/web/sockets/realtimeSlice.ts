import type { PayloadAction } from '@reduxjs/toolkit'
import { createAction, createSlice } from '@reduxjs/toolkit'

/** What travels in both directions: the id selects the listener. */
export type RealtimeMessage = { id: string; data?: unknown }

/** Asks the middleware to send; `dispatch` answers whether the message left. */
export const sendRequested = createAction<RealtimeMessage>('realtime/sendRequested')

export const realtimeSlice = createSlice({
  name: 'realtime',
  initialState: { connected: false, filesSynced: true },
  reducers: {
    connected(state) {
      state.connected = true
    },
    disconnected(state) {
      state.connected = false
    },
    messageReceived(state, { payload: { id, data } }: PayloadAction<RealtimeMessage>) {
      if (id !== 'CLIENT_FILE_SYNC') return
      const event = (data as { event?: unknown } | undefined)?.event
      if (event === 'sync_started') state.filesSynced = false
      if (event === 'sync_completed') state.filesSynced = true
    },
  },
  selectors: { selectConnected: (state) => state.connected, selectFilesSynced: (state) => state.filesSynced },
})

export const { connected, disconnected, messageReceived } = realtimeSlice.actions
export const { selectConnected, selectFilesSynced } = realtimeSlice.selectors
