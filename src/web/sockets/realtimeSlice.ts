import type { PayloadAction } from '@reduxjs/toolkit'
import { createAction, createSlice } from '@reduxjs/toolkit'

/** A message in either direction. The id selects its handler. */
export type RealtimeMessage = { id: string; data?: unknown }

/** Handled by the middleware; `dispatch` returns whether the message was sent. */
export const sendRequested = createAction<RealtimeMessage>('realtime/sendRequested')

export const realtimeSlice = createSlice({
  name: 'realtime',
  initialState: {
    connected: false,
    /** When the connection was lost, in milliseconds since the epoch; null if it is open or not wanted. */
    lostAt: null as number | null,
    filesSynced: true,
    /** Why the current sync has not finished yet. */
    syncProblem: null as string | null,
  },
  reducers: {
    connected(state) {
      state.connected = true
      state.lostAt = null
    },
    /** The payload is the time of the loss, or null if the connection was closed on purpose. */
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
