import type { PayloadAction } from '@reduxjs/toolkit'
import { createAction, createSlice } from '@reduxjs/toolkit'

/** What travels in both directions: the id selects the listener. */
export type RealtimeMessage = { id: string; data?: unknown }

/** Asks the middleware to send; `dispatch` answers whether the message left. */
export const sendRequested = createAction<RealtimeMessage>('realtime/sendRequested')

export const realtimeSlice = createSlice({
  name: 'realtime',
  initialState: { connected: false, filesSynced: true, /** Why the sync that goes on could not be finished yet. */ syncProblem: null as string | null },
  reducers: {
    connected(state) {
      state.connected = true
    },
    disconnected(state) {
      state.connected = false
    },
    messageReceived(state, { payload: { id, data } }: PayloadAction<RealtimeMessage>) {
      if (id !== 'CLIENT_FILE_SYNC') return
      const { event, problem } = (data ?? {}) as { event?: unknown; problem?: unknown }
      if (event !== 'sync_started' && event !== 'sync_completed') return
      state.filesSynced = event === 'sync_completed'
      state.syncProblem = typeof problem === 'string' ? problem : null
    },
  },
  selectors: { selectConnected: (state) => state.connected, selectFilesSynced: (state) => state.filesSynced, selectSyncProblem: (state) => state.syncProblem },
})

export const { connected, disconnected, messageReceived } = realtimeSlice.actions
export const { selectConnected, selectFilesSynced, selectSyncProblem } = realtimeSlice.selectors
