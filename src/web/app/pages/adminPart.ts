import { addListener, isAnyOf } from '@reduxjs/toolkit'
import { adminApi } from '../../api/admin'
import type { ApiFailure } from '../../failure'
import { roleChanged } from '../../facts'
import { adminSlice } from '../../features/admin/adminSlice'
import type { Part } from './part'
import type { AppDispatch, RootState, Services } from '../types'

const addAdminListener = addListener.withTypes<RootState, AppDispatch, Services>()
const { getUsers, getInviteCodes, getDashboardToken, getActivity } = adminApi.endpoints

export const adminPart: Part<'admin'> = {
  reducers: { admin: adminSlice.reducer },
  begin({ dispatch }) {
    dispatch(
      addAdminListener({
        // A refused query shows that the user is no administrator. Mutations are refused for other reasons, too.
        matcher: isAnyOf(
          getUsers.matchRejected,
          getInviteCodes.matchRejected,
          getDashboardToken.matchRejected,
          getActivity.matchRejected,
        ),
        effect(action, { dispatch }) {
          if ((action as { payload?: ApiFailure }).payload?.status === 403) dispatch(roleChanged(false))
        },
      }),
    )
  },
}
