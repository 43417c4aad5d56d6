import type { PayloadAction } from '@reduxjs/toolkit'
import { isAnyOf } from '@reduxjs/toolkit'
import type { WrongCodes } from '../../../contract/signIn/auth'
import { readSession } from '../../api/signIn/credentials'
import { otherSignInsApi } from '../../api/signIn/otherSignIns'
import { addAppListeners } from '../../app/appListeners'
import { sessionStarted } from '../../facts'
import type { AppThunk } from '../../app/types'
import { selectWaitsForPasskey } from './otherWaysSlice'

export { recoveryChosen } from './otherWaysSlice'
export { RecoveryCodeForm } from './RecoveryCodeForm'

const { signInWithPasskey: passkeySignIn, verifyRecoveryCode } = otherSignInsApi.endpoints

/** Does nothing while the browser is asked for a passkey. @param use whether the passkey follows a password */
export const signInWithPasskey =
  (use: 'alone' | 'step'): AppThunk =>
  (dispatch, getState) => {
    if (!selectWaitsForPasskey(getState())) void dispatch(passkeySignIn.initiate(use))
  }

addAppListeners((startListening) => {
  startListening({
    matcher: isAnyOf(passkeySignIn.matchFulfilled, verifyRecoveryCode.matchFulfilled),
    effect(action, { dispatch, extra }) {
      const session = readSession(extra)
      const { payload: wrongCodes } = action as PayloadAction<WrongCodes | null>
      if (session) dispatch(sessionStarted({ ...session, wrongCodes }))
    },
  })
})
