import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { Notification } from '../../facts'
import { notified } from '../../facts'

export const notificationsSlice = createSlice({
  name: 'notifications',
  initialState: [] as Notification[],
  reducers: {
    dismissed: (state, { payload: id }: PayloadAction<string>) =>
      state.filter((notification) => notification.id !== id),
  },
  extraReducers: (builder) => {
    builder.addCase(notified, (state, { payload }) => {
      state.push(payload)
    })
  },
  selectors: { selectNotifications: (state) => state },
})

export const { dismissed } = notificationsSlice.actions
export const { selectNotifications } = notificationsSlice.selectors
