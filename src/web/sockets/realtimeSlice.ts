import type { PayloadAction } from '@reduxjs/toolkit'
import { createAction, createSlice } from '@reduxjs/toolkit'

/** What travels in both directions: the id selects the listener. */
export type RealtimeMessage = { id: string; data?: unknown }

/** Asks the middleware to send; `dispatch` answers whether the message left. */
export const sendRequested = createAction<RealtimeMessage>('realtime/sendRequested')

export const realtimeSlice = createSlice({
  name: 'realtime',
  initialState: {
    connected: false,
    /** Since when there is none although it is wanted; in milliseconds since the epoch. */
    lostAt: null as number | null,
    filesSynced: true,
    /** Why the sync that goes on could not be finished yet. */
    syncProblem: null as string | null,
  },
  reducers: {
    connected(state) {
      state.connected = true
      state.lostAt = null
    },
    /** With the time when that was not on purpose. */
    disconnected(state, { payload: lostAt }: PayloadAction<number | null>) {
      state.connected = false
      state.lostAt = lostAt
    },
    messageReceived(state, { payload: { id, data } }: PayloadAction<RealtimeMessage>) {
      if (id !== 'CLIENT_FILE_SYNC') return
      const { event, problem } = (data ?? {}) as { event?: unknown; problem?: unknown }
      if (event !== 'sync_started' && event !== 'sync_completed') return
      state.filesSynced = event === 'sync_completed'
      state.syncProblem = typeof problem === 'string' ? problem : null
    },
  },
  selectors: {
    selectConnected: (state) => state.connected,
    selectLostAt: (state) => state.lostAt,
    selectFilesSynced: (state) => state.filesSynced,
    selectSyncProblem: (state) => state.syncProblem,
  },
})

export const { connected, disconnected, messageReceived } = realtimeSlice.actions
export const { selectConnected, selectLostAt, selectFilesSynced, selectSyncProblem } = realtimeSlice.selectors
