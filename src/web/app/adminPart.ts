import { addListener, isAnyOf } from '@reduxjs/toolkit'
import { adminApi } from '../api/admin'
import type { ApiFailure } from '../api/failure'
import { adminLearned } from '../facts'
import { adminSlice } from '../features/admin/adminSlice'
import type { Part } from './part'
import type { AppDispatch, RootState, Services } from './types'

const addAdminListener = addListener.withTypes<RootState, AppDispatch, Services>()
const { getUsers, getInviteCodes, getDashboardToken, getActivity } = adminApi.endpoints

/** What only the administration needs. */
export const adminPart: Part<'admin'> = {
  reducers: { admin: adminSlice.reducer },
  begin({ dispatch }) {
    dispatch(
      addAdminListener({
        // A refused action may have reasons of its own; who may not even look is no administrator any more.
        matcher: isAnyOf(
          getUsers.matchRejected,
          getInviteCodes.matchRejected,
          getDashboardToken.matchRejected,
          getActivity.matchRejected,
        ),
        effect(action, { dispatch }) {
          if ((action as { payload?: ApiFailure }).payload?.status === 403) dispatch(adminLearned(false))
        },
      }),
    )
  },
}
